/** Inserts a past that no endpoint can create: four weeks of mail, alerts and clicks. */

import { type Id, parseWireId } from '../../src/lib/ids.ts'
import { hourOf } from '../../src/resources/alerts/operator-alerts.ts'
import { metricKind, periodOf, quarterOf } from '../../src/resources/events/metrics.ts'
import { insertRows } from '../kit/database.ts'
import type { Mailhorn } from '../kit/mailhorn.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const WEEKS = 4
/** The last hours are left to what the test itself does. */
const REST_HOURS = 3

/** Shares of all mail that was submitted. */
const SHARES = {
  sent: 1,
  delivered: 0.985,
  bounced: 0.008,
  failed: 0.001,
  complained: 0.0004,
  opened: 0.47,
  unique_opened: 0.41,
  clicked: 0.07,
  unique_clicked: 0.06,
} as const

/** Busy on working days, by day, most of all on Tuesdays at ten. */
export function addWeeks(mailhorn: Mailhorn, accountId: Id): void {
  const end = Math.floor(mailhorn.clock.now() / HOUR_MS) * HOUR_MS - REST_HOURS * HOUR_MS
  const counters: Record<string, unknown>[] = []
  for (let at = end - WEEKS * 7 * DAY_MS; at < end; at += HOUR_MS) {
    const sent = sentAt(new Date(at))
    for (const [metric, share] of Object.entries(SHARES)) {
      const count = Math.round(sent * share)
      if (count === 0) continue
      const kind = metricKind(metric as keyof typeof SHARES, null, null)
      counters.push({ account_id: accountId, kind, period: periodOf(quarterOf(at)), count })
    }
  }
  insertRows(mailhorn, 'counters', counters)
}

function sentAt(date: Date): number {
  const [day, hour] = [date.getUTCDay(), date.getUTCHours()]
  const byDay = day === 0 || day === 6 ? 0.25 : 1
  const byHour = Math.exp(-((hour - 11) ** 2) / 18)
  const peak = day === 2 && hour === 10 ? 2 : 1
  const waves = 1 + 0.2 * Math.sin((date.getTime() / DAY_MS) * 2.7)
  return Math.round(900 * byDay * byHour * peak * waves)
}

export function addAlert(mailhorn: Mailhorn): void {
  const at = mailhorn.clock.now() - 2 * HOUR_MS
  insertRows(mailhorn, 'operator_alerts', [
    {
      ...{
        hour: hourOf(at),
        kind: 'ip-reputation',
        provider: 'outlook',
        source_ip: '127.0.0.1',
        raised_at: at,
      },
      ...{ mx_host: 'mx1.hotmail.com', domain: 'hotmail.com' },
      reply:
        '550 5.7.1 Messages from [192.0.2.25] weren’t sent: part of their network is on our block list (S3150).',
    },
  ])
}

/** @param broadcast its id, as the API names it */
export function addClicks(mailhorn: Mailhorn, accountId: Id, broadcast: string): void {
  const broadcastId = parseWireId('brd', broadcast)!
  const links = [
    ['https://shop.example/summer/lamps?utm_source=newsletter', 214, 171, 12],
    ['https://shop.example/summer/lamps/brass-reading-lamp-with-a-rather-long-name', 66, 58, 12],
    ['https://shop.example/imprint', 3, 3, 11],
  ] as const
  const rows = links.map(([url, click_count, unique_count, machine_count], link) => ({
    ...{ broadcast_id: broadcastId, link, account_id: accountId, url },
    ...{ click_count, unique_count, machine_count },
  }))
  insertRows(mailhorn, 'broadcast_links', rows)
}

/** The first day of an address that has been warmed up for so many. */
export function daysAgo(days: number): string {
  return new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10)
}
