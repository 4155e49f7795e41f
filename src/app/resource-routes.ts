/**
 * Builds routes of the API from the parts of the service: audiences with their contacts, events and webhooks,
 * received mail and downloads, and the description of the installation. `http.ts` adds them to its list.
 * Part of the composition root.
 */
import { audienceRoutes } from '../interfaces/api/audiences/routes.ts'
import { accountContactRoutes } from '../interfaces/api/contacts/account-contact-routes.ts'
import { audienceAliasRoutes, contactAliasRoutes } from '../interfaces/api/contacts/alias-routes.ts'
import { contactFileRoutes } from '../interfaces/api/contacts/file-routes.ts'
import { contactPropertyRoutes } from '../interfaces/api/contacts/property-routes.ts'
import { contactRoutes } from '../interfaces/api/contacts/routes.ts'
import { contactSegmentRoutes } from '../interfaces/api/contacts/segment-routes.ts'
import { createLinkTo } from '../interfaces/api/downloads/link.ts'
import { downloadRoutes } from '../interfaces/api/downloads/routes.ts'
import { emailAttachmentOpener, emailAttachmentRoutes } from '../interfaces/api/emails/attachment-routes.ts'
import { contactActivityRoutes } from '../interfaces/api/events/contact-routes.ts'
import { eventRoutes } from '../interfaces/api/events/routes.ts'
import { inboundAnswerRoutes } from '../interfaces/api/inbound/answer-routes.ts'
import { inboundChangeRoutes } from '../interfaces/api/inbound/change-routes.ts'
import { inboundFileRoutes } from '../interfaces/api/inbound/file-routes.ts'
import { createInboundFiles } from '../interfaces/api/inbound/files.ts'
import { mailRouteRoutes } from '../interfaces/api/inbound/mail-route-routes.ts'
import { receivingRoutes } from '../interfaces/api/inbound/receiving-routes.ts'
import { inboundRoutes } from '../interfaces/api/inbound/routes.ts'
import { inboundThreadRoutes } from '../interfaces/api/inbound/thread-routes.ts'
import { installationRoutes } from '../interfaces/api/installation/routes.ts'
import type { Credential, Route } from '../interfaces/api/route/route.ts'
import { segmentRoutes } from '../interfaces/api/segments/routes.ts'
import { topicRoutes } from '../interfaces/api/topics/routes.ts'
import { webhookEventRoutes } from '../interfaces/api/webhooks/event-routes.ts'
import { webhookRoutes } from '../interfaces/api/webhooks/routes.ts'
import type { QueueAdmin } from '../pipeline/queue/queue-admin.ts'
import { createWebhooks } from '../pipeline/webhooks/webhooks.ts'
import { createImporter } from '../resources/contacts/import/importer.ts'
import { isLaboratory } from '../resources/domains/checker.ts'
import type { EventFeed } from '../resources/events/feed.ts'
import type { AppContext, Sending } from './context.ts'
import { readAuthorities } from './delivery.ts'
import { selfSignedCertificate, smtpAccess } from './smtp-access.ts'
import { startUserOutbound } from './user-outbound.ts'
import { version } from './version.ts'

/** @param baseUrl URL of the API */
export function installationRoutesOf(
  { config, store, clock, workers, serviceMode, security }: AppContext,
  queueAdmin: QueueAdmin,
  baseUrl: string,
): Route[] {
  const { mailHost, smtp, simulator, apiKeys, regions, plans, webhooks, feedback: rates } = config
  return installationRoutes({
    ...{ serviceMode, queueAdmin, mailHost, clock, db: store.db, reader: workers.reader },
    describe: () => ({
      version,
      mode: serviceMode.current.mode,
      base_url: baseUrl,
      mail_host: mailHost,
      laboratory: isLaboratory(mailHost),
      smtp: {
        ...smtpAccess(mailHost, smtp),
        self_signed_certificate: selfSignedCertificate(security.certificates) ?? null,
      },
      simulator_domain: simulator.domain,
      api_key_prefix: apiKeys.prefix,
      standard_webhooks: webhooks.standard,
      regions: Object.entries(regions).map(([name, { feedback }]) => ({ name, feedback })),
      plans: Object.keys(plans),
      rate_limits: {
        bounces: { alert: share(rates.alertBounces), hold: share(rates.pauseBounces) },
        complaints: { alert: share(rates.alertComplaints), hold: share(rates.pauseComplaints) },
      },
    }),
  })
}

/** Converts a number per 10,000. */
function share(per10000: number | null): number | null {
  return per10000 === null ? null : per10000 / 10_000
}

export function audienceRoutesOf({ clock, store, newId, plans, workers }: AppContext): Route[] {
  const options = { store, reader: workers.reader, clock, newId }
  return [
    ...audienceRoutes(options),
    ...audienceAliasRoutes(options),
    ...contactFileRoutes({ ...options, importContacts: createImporter({ run: store.run, clock, newId }) }),
    ...contactRoutes(options),
    ...contactAliasRoutes(options),
    ...contactActivityRoutes({ store, reader: workers.reader, horizonOf: plans.horizonOf }),
    ...accountContactRoutes(options),
    ...contactSegmentRoutes(options),
    ...segmentRoutes(options),
    ...topicRoutes(options),
    ...contactPropertyRoutes(options),
  ]
}

export function eventRoutesOf(
  context: AppContext,
  { feed, isValid }: { feed: EventFeed; isValid(credential: Credential): Promise<boolean> },
): Route[] {
  const { config, clock, store, plans, newId, security } = context
  const { mailHost } = config
  const webhooks = createWebhooks({
    outbound: startUserOutbound(context, {
      authorities: readAuthorities(config.delivery.caFile),
      allowInsecureLoopback: config.webhooks.allowInsecureLoopback,
    }),
    random: Math.random,
    mailHost,
    db: store.db,
    run: store.run,
    clock,
    newId,
    secrets: security.secrets,
    allowInsecureLoopback: config.webhooks.allowInsecureLoopback,
    allowLoopback: config.fetch.allowLoopback,
    isStandardByDefault: config.webhooks.standard,
  })
  return [
    ...eventRoutes({ feed, isValid, store, horizonOf: plans.horizonOf, clock }),
    ...webhookRoutes({ webhooks, mailHost }),
    ...webhookEventRoutes({ webhooks, mailHost }),
  ]
}

/** These routes must precede the routes of sent emails, whose paths would match theirs. */
export function fileRoutesOf(
  { config, clock, store, plans, newId, security: { secrets } }: AppContext,
  { accept, preparation }: Sending,
  baseUrl: string,
): Route[] {
  const { horizonOf } = plans
  const linkTo = createLinkTo({ secrets, clock, baseUrl })
  const files = createInboundFiles({ store, horizonOf, mailHost: config.mailHost })
  const open = {
    'email-attachment': emailAttachmentOpener({ horizonOf, store }),
    'inbound-attachment': files.open,
    'inbound-message': files.open,
  }
  return [
    ...receivingRoutes({ horizonOf, store, linkTo }),
    ...mailRouteRoutes({ horizonOf, store, clock, newId }),
    ...inboundChangeRoutes({ horizonOf, store }),
    ...inboundRoutes({ horizonOf, store, linkTo }),
    ...inboundThreadRoutes({ horizonOf, store }),
    ...inboundFileRoutes({ horizonOf, store, files }),
    ...inboundAnswerRoutes({ accept, preparation, horizonOf, store }),
    ...emailAttachmentRoutes({ horizonOf, store, linkTo }),
    ...downloadRoutes({ secrets, clock, open }),
  ]
}
