/** Certificates page for operators: names, expiry and orders, and ordering at once. */
import { Link } from 'wouter-preact'
import { call } from '../api/client.ts'
import { useLoad } from '../api/load.ts'
import type { Certificate } from '../api/types.ts'
import { Button } from '../components/controls.tsx'
import { confirm } from '../components/dialog.tsx'
import { Note, say } from '../components/feedback.tsx'
import { actions, type Column, ResourceList, timeColumn } from '../components/list.tsx'
import { Head, Mark, Time } from '../components/show.tsx'
import type { Tone } from '../labels/status.ts'

const LIVE_MS = 5_000
const SOON_MS = 21 * 86_400_000

export function Certificates() {
  const list = useLoad<{ data: Certificate[] }>('/installation/certificates', { everyMs: LIVE_MS })
  const failed = list.data?.data.filter(({ order }) => order?.status === 'failed') ?? []
  const isSelfSigned = list.data?.data.some(({ source, order }) => source === 'self_signed' && !order)
  return (
    <>
      <Head title="Certificates" />
      <ResourceList<Certificate>
        name="Certificates"
        list={list}
        columns={columnsOf(list.reload)}
        keyOf={({ host }) => host}
        empty={{ icon: 'keys', title: 'No certificates' }}
      />
      {isSelfSigned && (
        <Note tone="warn">
          The certificate is self-signed, so other programs cannot verify it.{' '}
          <Link href="/setup">Go live</Link> gets one from Let’s Encrypt.
        </Note>
      )}
      {failed.map(({ host, order }) => (
        <Note tone="bad" key={host}>
          The certificate authority did not issue a certificate for {host}: {order!.error}. Next attempt:{' '}
          <Time at={order!.next_at} />.
        </Note>
      ))}
    </>
  )
}

function columnsOf(reload: () => void): Column<Certificate>[] {
  return [
    { head: 'Host', text: ({ host }) => host, second: ({ names }) => names.join(', ') },
    { head: 'Issuer', width: '20%', isExtra: true, text: issuerOf },
    { head: 'State', kind: 'status', cell: certificate => <State certificate={certificate} /> },
    timeColumn('Issued', ({ valid_from }) => valid_from, '–', true),
    timeColumn('Next order', ({ order }) => order?.next_at, '–', true),
    timeColumn('Expires', ({ expires_at }) => expires_at),
    actions(({ host, order }) =>
      order && order.status !== 'in_progress' ? (
        <Button
          small
          icon="again"
          label={`Order a certificate for ${host} now`}
          onClick={() => ask(host, reload)}
        />
      ) : null,
    ),
  ]
}

function issuerOf({ source, issuer }: Certificate): string | null {
  return source === 'self_signed' ? 'Self-signed' : (issuer ?? (source && 'Certificate authority'))
}

function State({ certificate }: { certificate: Certificate }) {
  const [tone, words] = stateOf(certificate)
  return <Mark tone={tone}>{words}</Mark>
}

function stateOf({ source, expires_at, order }: Certificate): [Tone, string] {
  const leftMs = Date.parse(expires_at ?? '') - Date.now()
  if (order?.status === 'in_progress') return ['warn', 'Ordering']
  if (order?.status === 'failed') return ['bad', 'Order failed']
  if (leftMs <= 0) return ['bad', 'Expired']
  if (leftMs < SOON_MS) return ['warn', 'Expires soon']
  if (source === null) return ['none', 'None yet']
  return source === 'self_signed' ? ['warn', 'Self-signed'] : ['good', 'Valid']
}

function ask(host: string, reload: () => void): void {
  confirm({
    title: `Order a certificate for ${host} now?`,
    text: 'The present certificate stays in use until the new one is there. Authorities limit how often they issue one for the same names: Let’s Encrypt five times a week.',
    act: 'Order certificate',
    harmless: true,
    async work() {
      const path = '/installation/certificates/order'
      const { reason } = await call<{ reason: string | null }>('POST', path, { host })
      say(reason ?? 'The certificate is being ordered.')
      reload()
    },
  })
}
