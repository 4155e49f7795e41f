/** Sending IP addresses: blocklist status, warm-up progress and paused destinations. */
import { useLoad } from '../api/load.ts'
import type { Doctor, Sources } from '../api/types.ts'
import { Pending } from '../components/feedback.tsx'
import { Card, Mark, Meter, Time } from '../components/show.tsx'
import { WarmupCurve } from '../components/warmup-curve.tsx'
import { type ListState, listStates } from '../labels/lists.ts'
import { count, counted } from '../labels/numbers.ts'

type Source = Sources['data'][number]

export function SourcesCard({ doctor }: { doctor: Doctor | undefined }) {
  const { data, error, reload } = useLoad<Sources>('/sources')
  const states = listStates(doctor)
  const sources = data?.data ?? []
  const others = [...(states?.keys() ?? [])].filter(
    address => !sources.some(({ source_ip }) => source_ip === address),
  )
  return (
    <Card
      title="Sending IP addresses"
      lead="A new IP address builds its reputation by sending more each day. Mailhorn applies the warm-up limits automatically."
      flush
    >
      {!data && <Pending of={{ error, reload }} flush />}
      {data && sources.length === 0 && (
        <p class="card-body quiet">
          The operating system chooses the source address. Set <code>delivery.source_ips</code> to warm up and
          monitor each address.
        </p>
      )}
      {data && (
        <ul>
          {sources.map(source => (
            <SourceRow key={source.source_ip} source={source} state={states?.get(source.source_ip)} />
          ))}
          {others.map(address => (
            <li key={address} class="recipient row row-apart">
              <b class="mono">{address}</b>
              <ListMark state={states?.get(address)} />
            </li>
          ))}
        </ul>
      )}
    </Card>
  )
}

function SourceRow({ source, state }: { source: Source; state: ListState | undefined }) {
  const { source_ip, ehlo_name, warmup, rests } = source
  return (
    <li class="recipient stack">
      <div class="row row-apart">
        <span>
          <b class="mono">{source_ip}</b> <span class="quiet">EHLO {ehlo_name}</span>
        </span>
        <span class="row">
          <ListMark state={state} />
          <Mark tone={warmup ? 'warn' : 'good'}>{warmup ? `Warm-up day ${warmup.day}` : 'Warmed up'}</Mark>
        </span>
      </div>
      {warmup && (
        <div class="halves">
          <WarmupCurve caps={warmup.caps} day={warmup.day} />
          <div class="stack stack-tight">
            {warmup.sent.length === 0 && (
              <p class="small quiet">
                Nothing sent today. Limit: {counted(warmup.cap, 'message')} per provider.
              </p>
            )}
            {warmup.sent.map(({ provider, count: sent }) => (
              <div key={provider}>
                <div class="row row-apart small">
                  <span>{provider === 'other' ? 'All other providers' : provider}</span>
                  <span class="quiet number">
                    {count(sent)} of {count(warmup.cap)} today
                  </span>
                </div>
                <Meter share={sent / Math.max(1, warmup.cap)} label={`Sent to ${provider} today`} />
              </div>
            ))}
          </div>
        </div>
      )}
      {rests.map(({ site, until, reason }) => (
        <p class="small quiet" key={site}>
          Paused for {site} until <Time at={until} />: {reason}
        </p>
      ))}
    </li>
  )
}

/** The state is undefined until the blocklists have been queried, or if none is configured. */
function ListMark({ state }: { state: ListState | undefined }) {
  if (!state) return null
  const { listed, clear, silent } = state
  if (listed.length > 0) return <Mark tone="bad">Listed on {listed.join(', ')}</Mark>
  if (clear.length === 0) return <Mark tone="none">Blocklist status unknown</Mark>
  const unheard = silent.length > 0 ? `; no reply from ${silent.join(', ')}` : ''
  return (
    <Mark tone="good" title={`Not listed on ${clear.join(', ')}${unheard}`}>
      Not blocklisted
    </Mark>
  )
}
