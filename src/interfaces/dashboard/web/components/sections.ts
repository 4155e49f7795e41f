/** Sections of the dashboard, in the order of the sidebar. */
import type { IconName } from './icons.tsx'

export interface Section {
  label: string
  icon: IconName
  /** Pages of the section, the first of which the sidebar leads to. Several are tabs. */
  pages: readonly (readonly [path: string, label: string])[]
  isOperators?: boolean
  /** Whether the number of unread messages stands beside the label. */
  hasUnread?: boolean
}

export const SECTION_GROUPS: readonly (readonly Section[])[] = [
  [
    { label: 'Overview', icon: 'overview', pages: [['/', 'Overview']] },
    {
      label: 'Emails',
      icon: 'emails',
      pages: [
        ['/emails', 'All emails'],
        ['/suppressions', 'Suppressions'],
      ],
    },
    {
      label: 'Inbox',
      icon: 'inbox',
      pages: [
        ['/inbox', 'Inbox'],
        ['/inbox/routes', 'Routes'],
      ],
      hasUnread: true,
    },
    { label: 'Broadcasts', icon: 'broadcasts', pages: [['/broadcasts', 'Broadcasts']] },
    { label: 'Contacts', icon: 'audiences', pages: [['/audiences', 'Audiences']] },
    { label: 'Templates', icon: 'templates', pages: [['/templates', 'Templates']] },
  ],
  [
    { label: 'Domains', icon: 'domains', pages: [['/domains', 'Domains']] },
    { label: 'Webhooks', icon: 'webhooks', pages: [['/webhooks', 'Webhooks']] },
    {
      label: 'API',
      icon: 'keys',
      pages: [
        ['/keys', 'API keys'],
        ['/smtp', 'SMTP'],
        ['/logs', 'Logs'],
      ],
    },
  ],
  [
    {
      label: 'Server',
      icon: 'deliverability',
      isOperators: true,
      pages: [
        ['/queue', 'Queue'],
        ['/destinations', 'Destinations'],
        ['/deliverability', 'Deliverability'],
        ['/storage', 'Storage'],
        ['/backups', 'Backups'],
        ['/certificates', 'Certificates'],
        ['/server-log', 'Server log'],
        ['/configuration', 'Configuration'],
        ['/setup', 'Go live'],
        ['/accounts', 'Accounts'],
      ],
    },
  ],
]

/** Pages of the menu of the signed-in user. */
export const USER_PAGES: readonly (readonly [path: string, label: string, icon: IconName])[] = [
  ['/usage', 'Usage and plan', 'usage'],
  ['/settings', 'Settings', 'settings'],
  ['/start', 'First steps', 'start'],
]

/** Returns the section that a path belongs to. */
export function sectionOf(path: string): Section | undefined {
  return SECTION_GROUPS.flat().find(({ pages }) =>
    pages.some(([place]) => path === place || (place !== '/' && path.startsWith(`${place}/`))),
  )
}
