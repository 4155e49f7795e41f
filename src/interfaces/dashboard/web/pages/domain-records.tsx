/** The DNS records of a domain, each with what is to be copied, whether it is there, and what to do if it is not. */
import type { CheckedDomain, Domain } from '../api/types.ts'
import { Copy } from '../components/controls.tsx'
import { Mark } from '../components/show.tsx'
import { RECORD_WORDS } from '../labels/status.ts'

type Checks = CheckedDomain['checks']
type Record = Domain['records'][number]

const PURPOSES: Readonly<{ [R in Record['record']]: string }> = {
  Verification: 'Proves that the domain is yours.',
  'DKIM 1': 'Lets receivers check our signature on your mail.',
  'DKIM 2': 'A second key, so that keys can change without your doing anything.',
  'DKIM 3': 'A modern key (Ed25519), beside the others.',
  SPF: 'Says that we may send for you.',
  MX: 'Brings bounces and complaints back to us.',
  Tracking: 'Lets links in your mail lead to a name of yours. Until then they lead to ours.',
}

export function DomainRecords({ domain, checks }: { domain: Domain; checks: Checks | undefined }) {
  return (
    <div>
      {domain.records.map(record => (
        <div class="record" key={record.record}>
          <div>
            <b>{record.record}</b> <span class="quiet">{PURPOSES[record.record]}</span>
          </div>
          <Mark tone={RECORD_WORDS[record.status]!.tone} title={RECORD_WORDS[record.status]!.meaning}>
            {RECORD_WORDS[record.status]!.label}
          </Mark>
          <RecordFacts record={record} />
          <WhatWasSeen check={checks && checkFor(record, checks)} />
        </div>
      ))}
    </div>
  )
}

interface AnyRecord {
  type: string
  host: string
  value: string
  priority?: number | undefined
}

function RecordFacts({ record: { type, host, value, priority } }: { record: AnyRecord }) {
  return (
    <dl>
      <dt>Type</dt>
      <dd>
        <code>
          {type}
          {priority !== undefined && `, priority ${priority}`}
        </code>
      </dd>
      <dt>Name</dt>
      <dd>
        <Copy text={host} label={`Copy the name of the ${type} record`} />
      </dd>
      <dt>Value</dt>
      <dd>
        <Copy text={value} label={`Copy the value of the ${type} record`} />
      </dd>
    </dl>
  )
}

/** A record that stands by itself. */
export function RecordBox({ name, note, record }: { name: string; note: string; record: AnyRecord }) {
  return (
    <div class="record">
      <div>
        <b>{name}</b> <span class="quiet">{note}</span>
      </div>
      <RecordFacts record={record} />
    </div>
  )
}

type Check = Checks['spf']

function checkFor(
  { record, host }: Record,
  { ownership, dkim, spf, mx, tracking }: Checks,
): Check | undefined {
  switch (record) {
    case 'Verification':
      return ownership
    case 'SPF':
      return spf
    case 'MX':
      return mx
    case 'Tracking':
      return tracking ?? undefined
    default:
      return dkim.selectors.find(selector => selector.host === host)
  }
}

function WhatWasSeen({ check }: { check: Check | undefined }) {
  if (!check || check.status === 'verified') return null
  const seenBy = [...check.name_servers, ...check.resolvers]
  return (
    <>
      {check.advice && <p class="advice">{check.advice}</p>}
      {check.found.length > 0 && (
        <p class="small quiet">
          Found instead: <span class="mono">{check.found.join(', ')}</span>
        </p>
      )}
      {seenBy.length > 0 && (
        <details class="small quiet">
          <summary>Who sees what</summary>
          <ul>
            {seenBy.map(({ server, status, found }) => (
              <li key={server}>
                {server}: {RECORD_WORDS[status]!.label.toLowerCase()}
                {found.length > 0 && <span class="mono"> ({found.join(', ')})</span>}
              </li>
            ))}
          </ul>
        </details>
      )}
    </>
  )
}
