/** Sending IP addresses: blocklist status, warm-up progress and paused destinations. */
import { useLoad } from '../api/load.ts'
import type { Doctor, Sources } from '../api/types.ts'
import { Pending } from '../components/feedback.tsx'
import { Card, Mark, Meter, Time } from '../components/show.tsx'
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
      {!data && <Pending of={{ error, reload }} />}
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
      {rests.map(({ destination, until, reason }) => (
        <p class="small quiet" key={destination}>
          Paused for {destination} until <Time at={until} />: {reason}
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

type Finding = Doctor['findings'][number]

interface ListState {
  /** Names of blocklists. */
  listed: string[]
  clear: string[]
  /** Lists that did not answer or refused the query. */
  silent: string[]
}

/** Returns the status by IP address; undefined until the doctor has finished. */
function listStates(doctor: Doctor | undefined): Map<string, ListState> | undefined {
  if (!doctor) return undefined
  const states = new Map<string, ListState>()
  for (const finding of doctor.findings) {
    if (finding.check !== 'blocklist' || finding.subject === null) continue
    const [address = '', list = ''] = finding.subject.split(' ')
    const state = states.get(address) ?? { listed: [], clear: [], silent: [] }
    states.set(address, state)
    placeOf(state, finding).push(list)
  }
  return states
}

function placeOf({ listed, clear, silent }: ListState, { status }: Finding): string[] {
  if (status === 'ok') return clear
  return status === 'unknown' ? silent : listed
}

const [WIDTH, HEIGHT, TOP, BOTTOM] = [320, 110, 18, 20]

/**
 * @param caps messages to one provider on the first, second, … day
 * @param day day number, from 1
 */
function WarmupCurve({ caps, day }: { caps: readonly number[]; day: number }) {
  // a logarithmic scale, because the limits grow by orders of magnitude
  const most = Math.log1p(Math.max(1, ...caps))
  const step = WIDTH / caps.length
  const heightOf = (cap: number) => ((HEIGHT - TOP - BOTTOM) * Math.log1p(cap)) / most
  const today = Math.min(day, caps.length) - 1
  return (
    <svg
      class="chart-small"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      role="img"
      aria-label={`Day ${day} of ${caps.length}: ${count(caps[today]!)} messages per provider; ${count(caps.at(-1)!)} on the last day`}
    >
      {caps.map((cap, i) => (
        <rect
          key={`day ${i + 1}`}
          class={i < today ? 'is-past' : i === today ? 'is-today' : 'is-ahead'}
          x={step * i + 1}
          y={HEIGHT - BOTTOM - heightOf(cap)}
          width={Math.max(1, step - 2)}
          height={heightOf(cap)}
          rx="1.5"
        />
      ))}
      <text
        x={Math.min(WIDTH - 30, Math.max(30, step * (today + 0.5)))}
        y={HEIGHT - BOTTOM - heightOf(caps[today]!) - 5}
        text-anchor="middle"
        class="is-said"
      >
        {count(caps[today]!)}/day
      </text>
      <text x="0" y={HEIGHT - 5}>
        Day 1
      </text>
      <text x={WIDTH} y={HEIGHT - 5} text-anchor="end">
        Day {caps.length}
      </text>
    </svg>
  )
}
