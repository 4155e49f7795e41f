/**
 * Writes what the webhook of operators gets: JSON with all facts, or a message for incoming webhooks of
 * Slack, which Mattermost and Discord take, too.
 */
import { utcMinute } from '../../lib/iso-time.ts'
import { factsOfKind } from '../../resources/alerts/kinds.ts'
import { conditionFields } from '../../resources/alerts/operator-alerts.ts'
import type { AlertNoticeRow } from '../../store/model/schema/alerts.ts'

export type AlertFormat = 'generic' | 'slack'

export type AlertMessage = Pick<
  AlertNoticeRow,
  'kind' | 'provider' | 'sourceIp' | 'domain' | 'text' | 'since' | 'endedAt' | 'madeAt'
> & {
  /** Id as receivers see it. */
  id: string
  event: AlertNoticeRow['event'] | 'test'
}

export interface AlertOrigin {
  /** Name of the installation: its mail host. */
  name: string
  /** Page of the dashboard that lists alerts. */
  alertsUrl: string
}

/** Kind of the alert of a test, which is no condition. */
export const TEST_KIND = 'test'
const TEST_TITLE = 'This is a test of the alerts.'

const BODIES = { generic: genericBody, slack: slackBody }

export function bodyOfAlert(message: AlertMessage, format: AlertFormat, installation: AlertOrigin): string {
  return JSON.stringify(BODIES[format](message, installation))
}

/** Fields are only added, never removed or renamed. */
function genericBody(message: AlertMessage, { name, alertsUrl }: AlertOrigin) {
  const { id, event, kind, domain, text, since, endedAt, madeAt } = message
  return {
    type: `alert.${event}`,
    id,
    created_at: isoTime(madeAt),
    ...conditionFields(message),
    ...factsOf(kind),
    text,
    domain: domain === '' ? null : domain,
    since: isoTime(since),
    resolved_at: endedAt === null ? null : isoTime(endedAt),
    url: alertsUrl,
    installation: name,
  }
}

const BEGINNINGS = { raised: '', repeated: 'Still: ', ended: 'Resolved: ', test: '' }

/** Slack reads `&`, `<` and `>` as markup. */
function slackBody(message: AlertMessage, { name, alertsUrl }: AlertOrigin) {
  const { event, kind, provider, sourceIp, domain, text, since, endedAt } = message
  const { title, severity } = factsOf(kind)
  const about = [provider, domain, sourceIp].filter(part => part !== '').join(', ')
  const times = [`since ${utcMinute(since)}`, ...(endedAt === null ? [] : [`until ${utcMinute(endedAt)}`])]
  const lines = [
    `*${BEGINNINGS[event]}${escaped(title)}*${about && ` (${escaped(about)})`}`,
    escaped(text),
    `${escaped(name)}, ${severity}, ${times.join(' ')}. <${alertsUrl}|Open the dashboard>`,
  ]
  return { text: lines.join('\n') }
}

function factsOf(kind: string) {
  return kind === TEST_KIND ? { title: TEST_TITLE, severity: 'warning' as const } : factsOfKind(kind)
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

function isoTime(at: number): string {
  return new Date(at).toISOString()
}
