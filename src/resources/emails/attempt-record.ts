/** Packs the facts of a delivery attempt (phase, reply, host, TLS, transcript) into one column. */
import { pack, unpack } from '../../store/model/packed-record.ts'
import type { AttemptRow } from '../../store/model/schema.ts'

type AttemptRecord = Pick<AttemptRow, 'phase' | 'reply' | 'mxHost' | 'mxIp' | 'tls' | 'transcript'>

export function packRecord({ phase, reply, mxHost, mxIp, tls, transcript }: AttemptRecord): Uint8Array {
  const facts = JSON.stringify([phase, reply, mxHost, mxIp, tls])
  return pack(`${facts.slice(0, -1)},${transcript ?? 'null'}]`)
}

type Text = string | null
type Facts = [phase: Text, reply: Text, mxHost: Text, mxIp: Text, tls: Text, transcript: object[] | null]

export function readRecord(packed: Uint8Array): AttemptRecord {
  const [phase, reply, mxHost, mxIp, tls, transcript] = JSON.parse(unpack(packed)) as Facts
  return { phase, reply, mxHost, mxIp, tls, transcript: transcript && JSON.stringify(transcript) }
}

/** Makes the data of a delivery event. All of it comes from the attempt. */
export function deliveredData({
  mxHost,
  mxIp,
  tls,
  reply,
  startedAt,
  finishedAt,
}: Omit<AttemptRecord, 'phase' | 'transcript'> & { startedAt: number; finishedAt: number }) {
  return { mx_host: mxHost, mx_ip: mxIp, tls, reply, duration_ms: finishedAt - startedAt }
}

/** Unpacks the record of an attempt into its row. */
export function withRecord(attempt: AttemptRow): AttemptRow {
  return attempt.record === null ? attempt : { ...attempt, ...readRecord(attempt.record) }
}
