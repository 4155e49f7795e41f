/** How a receiver verifies signatures, with the values of the last delivery. */
import { useState } from 'preact/hooks'
import type { Webhook, WebhookDelivery } from '../api/types.ts'
import { Choices, Copy } from '../components/controls.tsx'
import { Card, Facts } from '../components/show.tsx'
import { VERIFIERS, type Verifier, verifierOf } from '../labels/verifiers.ts'

interface VerifyProps {
  webhook: Webhook
  /** Latest delivery that was attempted; undefined if there is none. */
  delivery: WebhookDelivery | undefined
}

export function VerifyCard({ webhook, delivery }: VerifyProps) {
  const [chosen, setVerifier] = useState<Verifier>('openssl')
  const { body = '', headers } = delivery?.request ?? {}
  if (!headers)
    return (
      <Card title="Verify signatures">
        <p class="quiet">
          Send a test event. Its values then explain here, step by step, how your endpoint verifies a
          signature.
        </p>
      </Card>
    )
  const timestamp = headers['svc-timestamp']!
  return (
    <Card
      title="Verify signatures"
      lead="The values are those of the last delivery. Its signature is made with the signing secret, which is shown only when it is created or rotated."
    >
      <div class="stack">
        <Facts
          rows={Object.entries(headers)
            .filter(
              ([name]) =>
                name.startsWith('svc-') || (webhook.standard_webhooks && name.startsWith('webhook-')),
            )
            .map(([name, value]) => [name, <Copy key={name} text={value} label={`Copy ${name}`} />])}
        />
        <p>
          1. Take <code>svc-timestamp</code>, a full stop and the raw body, before any JSON parser. Refuse
          timestamps that are more than 5 minutes off.
        </p>
        <Copy block label="Copy signed text" text={`${timestamp}.${body}`} />
        <p>
          2. Compute the HMAC-SHA256 of this text with the whole signing secret, <code>whsec_</code> included,
          as lower-case hexadecimal.
        </p>
        <p>
          3. Compare it in constant time with <code>svc-signature</code>. After a rotation there are several
          signatures, separated by commas; one match is enough.
        </p>
        <Choices<Verifier> label="Verifier" value={chosen} options={VERIFIERS} onValue={setVerifier} />
        <Copy block label="Copy verifier" text={verifierOf(chosen, { timestamp, body })} />
        {chosen === 'openssl' && (
          <p class="quiet small">
            Put the signing secret into the variable <code>WEBHOOK_SECRET</code>. The output ends with the
            signature above.
          </p>
        )}
        {chosen === 'sdk' && !webhook.standard_webhooks && (
          <p class="quiet small">Switch on Standard Webhooks signatures first.</p>
        )}
      </div>
    </Card>
  )
}

/** For endpoints on the developer's computer. */
export function TunnelHint() {
  return (
    <p class="quiet small">
      Is your endpoint on your own computer? Give it a public https address with a tunnel, such as{' '}
      <code>cloudflared tunnel --url http://localhost:3000</code> or <code>ngrok http 3000</code>, and use
      that address with the path of your endpoint. If Mailhorn itself runs on that computer, the operator can
      allow <code>http://127.0.0.1</code> for tests:{' '}
      <code>MAILHORN_WEBHOOKS_ALLOW_INSECURE_LOOPBACK=true</code>.
    </p>
  )
}
