/** DNS records of a domain: values to copy, their status, and advice. */
import type { CheckedDomain, Domain } from '../api/types.ts'
import { Copy } from '../components/controls.tsx'
import { Mark } from '../components/show.tsx'
import { RECORD_WORDS } from '../labels/status.ts'

type Checks = CheckedDomain['checks']
type Record = Domain['records'][number]

const PURPOSES: Readonly<{ [R in Record['record']]: string }> = {
  Verification: 'Verifies that you own the domain.',
  'DKIM 1': 'Lets receivers verify the DKIM signature of your email.',
  'DKIM 2': 'A second key for automatic key rotation.',
  'DKIM 3': 'An additional Ed25519 key.',
  SPF: 'Authorizes Mailhorn to send for your domain.',
  MX: 'Routes bounces and complaints to Mailhorn.',
  Tracking:
    'Lets tracked links use your own domain. Until it is verified, they use the shared tracking domain.',
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
      <DmarcRecord domain={domain.name} check={checks?.dmarc} />
    </div>
  )
}

/** Policy that large mailbox providers require at least. */
const DMARC_POLICY = 'v=DMARC1; p=none'
const RECOMMENDED = {
  label: 'Recommended',
  tone: 'none',
  meaning: '“Verify domain” shows whether it is published.',
} as const

/** The record of the DMARC policy, which the domain is verified without. */
function DmarcRecord({ domain, check }: { domain: string; check: Checks['dmarc'] | undefined }) {
  const { label, tone, meaning } = check ? RECORD_WORDS[check.status]! : RECOMMENDED
  const published = check?.status === 'verified' ? check.found[0] : undefined
  return (
    <div class="record">
      <div>
        <b>DMARC</b>{' '}
        <span class="quiet">
          Tells receivers what to do with email that fails authentication. Large mailbox providers require it;
          your domain is verified without it.
        </span>
      </div>
      <Mark tone={tone} title={meaning}>
        {label}
      </Mark>
      <RecordFacts
        record={{
          type: 'TXT',
          host: `_dmarc.${check?.policy?.domain ?? domain}`,
          value: published ?? check?.expected ?? DMARC_POLICY,
        }}
      />
      {check?.status === 'verified' && check.advice && <p class="advice">{check.advice}</p>}
      <WhatWasSeen check={check} />
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

/** Shows a single record in a box. */
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
          Current value: <span class="mono">{check.found.join(', ')}</span>
        </p>
      )}
      {seenBy.length > 0 && (
        <details class="small quiet">
          <summary>Results per DNS server</summary>
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
