/** Entries of the sidebar, in order. */
import type { IconName } from '../components/icons.tsx'

export interface NavItem {
  path: string
  label: string
  icon: IconName
}

interface PlaceGroup {
  /** Undefined for the first group, which has no label. */
  label?: string
  isOperators?: boolean
  places: readonly NavItem[]
}

export const NAV_ITEMS: readonly PlaceGroup[] = [
  { places: [{ path: '/', label: 'Overview', icon: 'overview' }] },
  {
    label: 'Mail',
    places: [
      { path: '/emails', label: 'Emails', icon: 'emails' },
      { path: '/inbox', label: 'Inbox', icon: 'inbox' },
      { path: '/broadcasts', label: 'Broadcasts', icon: 'broadcasts' },
      { path: '/audiences', label: 'Audiences', icon: 'audiences' },
      { path: '/templates', label: 'Templates', icon: 'templates' },
      { path: '/suppressions', label: 'Suppressions', icon: 'suppressions' },
    ],
  },
  {
    label: 'Setup',
    places: [
      { path: '/start', label: 'First steps', icon: 'start' },
      { path: '/domains', label: 'Domains', icon: 'domains' },
      { path: '/keys', label: 'API keys', icon: 'keys' },
      { path: '/webhooks', label: 'Webhooks', icon: 'webhooks' },
      { path: '/logs', label: 'Logs', icon: 'logs' },
    ],
  },
  {
    label: 'Operator',
    isOperators: true,
    places: [
      { path: '/deliverability', label: 'Deliverability', icon: 'deliverability' },
      { path: '/queue', label: 'Queue', icon: 'queue' },
      { path: '/destinations', label: 'Destinations', icon: 'destinations' },
      { path: '/accounts', label: 'Accounts', icon: 'accounts' },
    ],
  },
  {
    label: 'Account',
    places: [
      { path: '/usage', label: 'Usage and plan', icon: 'usage' },
      { path: '/settings', label: 'Settings', icon: 'settings' },
    ],
  },
]
