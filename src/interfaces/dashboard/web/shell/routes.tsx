/** Maps paths to pages. The code of each page is loaded when it is first needed. */
import type { ComponentType } from 'preact'
import { NotThere } from '../components/feedback.tsx'
import { type LazyPage, lazy } from '../components/lazy.tsx'
import type { PageProps } from '../components/page.ts'
// nearly every page has a list, so that one request less is worth more than these few octets at the sign-in
import '../components/filters.tsx'
import '../components/list.tsx'
import '../components/paged.ts'

type Page = ComponentType<PageProps> | LazyPage<PageProps>

const ANYWHERE = '*'

/** The first match counts. */
export const ROUTES: readonly (readonly [pattern: string, page: Page])[] = [
  ['/', lazy(async () => (await import('../pages/overview.tsx')).Overview)],
  ['/start', lazy(async () => (await import('../pages/start.tsx')).Start)],
  ['/emails', lazy(async () => (await import('../pages/emails.tsx')).Emails)],
  ['/emails/compose', lazy(async () => (await import('../pages/compose.tsx')).Compose)],
  ['/emails/:id', lazy(async () => (await import('../pages/email.tsx')).EmailPage)],
  ['/domains', lazy(async () => (await import('../pages/domains.tsx')).Domains)],
  ['/domains/:id', lazy(async () => (await import('../pages/domain.tsx')).DomainPage)],
  ['/keys', lazy(async () => (await import('../pages/keys.tsx')).Keys)],
  ['/smtp', lazy(async () => (await import('../pages/smtp.tsx')).SmtpPage)],
  ['/templates', lazy(async () => (await import('../pages/templates.tsx')).Templates)],
  ['/templates/:id', lazy(async () => (await import('../pages/template.tsx')).TemplatePage)],
  ['/inbox', lazy(async () => (await import('../pages/inbox.tsx')).Inbox)],
  ['/inbox/routes', lazy(async () => (await import('../pages/mail-routes.tsx')).MailRoutes)],
  ['/inbox/routes/:id', lazy(async () => (await import('../pages/mail-route.tsx')).MailRoutePage)],
  ['/inbox/:id', lazy(async () => (await import('../pages/inbound.tsx')).InboundPage)],
  ['/broadcasts', lazy(async () => (await import('../pages/broadcasts.tsx')).Broadcasts)],
  ['/broadcasts/:id', lazy(async () => (await import('../pages/broadcast.tsx')).BroadcastPage)],
  [
    '/broadcasts/:id/recipients',
    lazy(async () => (await import('../pages/broadcast-recipients.tsx')).BroadcastRecipients),
  ],
  ['/audiences', lazy(async () => (await import('../pages/audiences.tsx')).Audiences)],
  ['/audiences/:id', lazy(async () => (await import('../pages/audience.tsx')).AudiencePage)],
  ['/audiences/:id/contacts/:contact', lazy(async () => (await import('../pages/contact.tsx')).ContactPage)],
  ['/webhooks', lazy(async () => (await import('../pages/webhooks.tsx')).Webhooks)],
  ['/webhooks/:id', lazy(async () => (await import('../pages/webhook.tsx')).WebhookPage)],
  ['/logs', lazy(async () => (await import('../pages/logs.tsx')).Logs)],
  ['/logs/:id', lazy(async () => (await import('../pages/log.tsx')).LogPage)],
  ['/suppressions', lazy(async () => (await import('../pages/suppressions.tsx')).Suppressions)],
  ['/deliverability', lazy(async () => (await import('../pages/deliverability.tsx')).Deliverability)],
  ['/storage', lazy(async () => (await import('../pages/storage.tsx')).StoragePage)],
  ['/backups', lazy(async () => (await import('../pages/backups.tsx')).BackupsPage)],
  ['/server-log', lazy(async () => (await import('../pages/server-log.tsx')).ServerLog)],
  ['/certificates', lazy(async () => (await import('../pages/certificates.tsx')).Certificates)],
  ['/configuration', lazy(async () => (await import('../pages/configuration.tsx')).Configuration)],
  ['/setup', lazy(async () => (await import('../pages/setup.tsx')).SetupPage)],
  ['/queue', lazy(async () => (await import('../pages/queue.tsx')).QueuePage)],
  ['/destinations', lazy(async () => (await import('../pages/destinations.tsx')).DestinationsPage)],
  ['/accounts', lazy(async () => (await import('../pages/accounts.tsx')).Accounts)],
  ['/usage', lazy(async () => (await import('../pages/usage.tsx')).UsagePage)],
  ['/settings', lazy(async () => (await import('../pages/settings.tsx')).Settings)],
  [ANYWHERE, () => <NotThere title="Page not found" />],
]

/**
 * Runs the code of a page while the session is being checked.
 * @param path path without the common prefix
 */
export function fetchPageOf(path: string): void {
  const page = ROUTES.find(([pattern]) => pattern !== ANYWHERE && isOf(pattern, path))?.[1]
  if (page && 'fetch' in page) page.fetch()
}

function isOf(pattern: string, path: string): boolean {
  return new RegExp(`^${pattern.replace(/:\w+/g, '[^/]+')}/?$`).test(path)
}
