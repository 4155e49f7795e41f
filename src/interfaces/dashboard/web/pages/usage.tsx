/** Usage and plan page. */
import { useLoad } from '../api/load.ts'
import { signedIn } from '../api/session.ts'
import type { Usage } from '../api/types.ts'
import { Pending } from '../components/feedback.tsx'
import { Card, Facts, Head, Meter, Time } from '../components/show.tsx'
import { count, counted } from '../labels/numbers.ts'

const LIVE_MS = 15_000
/** Value of the API for no limit. */
const NO_LIMIT = 2_147_483_647
/** Share of the quota above which the meter warns. */
const MUCH = 0.9

interface RateLimit {
  rate_limit: { limit: number }
}

export function UsagePage() {
  const { data, error, reload } = useLoad<Usage>('/account/usage', { everyMs: LIVE_MS })
  const rate = useLoad<RateLimit>('/usage').data?.rate_limit.limit
  const { account } = signedIn()
  return (
    <>
      <Head
        title="Usage and plan"
        lead="Every recipient of an accepted email counts, including simulator recipients."
      />
      {!data && <Pending of={{ error, reload }} />}
      {data && (
        <>
          <div class="halves">
            <Period title="Today" period={data.emails.daily} />
            <Period title="This month" period={data.emails.monthly} />
          </div>
          <Card title="Plan">
            <Facts
              rows={[
                ['Account', account.name],
                ['Plan', data.plan],
                [
                  'Retention',
                  data.retention_days === null ? 'unlimited' : counted(data.retention_days, 'day'),
                ],
                rate !== undefined && [
                  'API requests',
                  rate === NO_LIMIT ? 'unlimited' : `${count(rate)} per second`,
                ],
                ['Quota periods', 'Start at midnight UTC'],
              ]}
            />
          </Card>
        </>
      )}
    </>
  )
}

function Period({ title, period }: { title: string; period: Usage['emails']['daily'] }) {
  const { used, limit, remaining, resets_at } = period
  const share = limit === null ? 0 : used / limit
  return (
    <Card title={title}>
      <div class="stack">
        <p>
          <b class="number">{count(used)}</b>{' '}
          {limit === null ? 'recipients (unlimited)' : `of ${counted(limit, 'recipient')}`}
        </p>
        {limit !== null && <Meter share={share} label={`${title}: used`} bad={share > MUCH} />}
        <p class="quiet small">
          {remaining !== null && `${count(remaining)} remaining. `}
          Resets <Time at={resets_at} />.
        </p>
      </div>
    </Card>
  )
}
