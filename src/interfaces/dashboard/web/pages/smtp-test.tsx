/** Test of a port for SMTP submission: the server connects as a program would, and shows each step. */
import { useState } from 'preact/hooks'
import { call } from '../api/client.ts'
import type { Installation, SmtpTest } from '../api/types.ts'
import { Button, Choose, TextField } from '../components/controls.tsx'
import { useAct } from '../components/dialog.tsx'
import { Failure } from '../components/feedback.tsx'
import { Card, Mark } from '../components/show.tsx'
import type { Tone } from '../labels/status.ts'

type Step = SmtpTest['steps'][number]

const STEPS: Readonly<Record<Step['step'], string>> = {
  resolve: 'Find the host name',
  connect: 'Connect',
  greeting: 'Greeting',
  tls: 'TLS',
  login: 'Login',
}
const RESULTS: Readonly<Record<Step['status'], readonly [tone: Tone, label: string]>> = {
  ok: ['good', 'Passed'],
  warning: ['warn', 'Warning'],
  failed: ['bad', 'Failed'],
  skipped: ['none', 'Skipped'],
}

export function SmtpTestCard({ smtp, prefix }: { smtp: Installation['smtp']; prefix: string }) {
  const [port, setPort] = useState(smtp.ports[0]!.port)
  const [key, setKey] = useState('')
  const [result, setResult] = useState<SmtpTest>()
  const test = useAct(async () => {
    setResult(undefined)
    setResult(await call<SmtpTest>('POST', '/installation/smtp-test', { port, api_key: key.trim() }))
  })
  return (
    <Card
      title="Test the connection"
      lead="The server connects to its own port as your program would, by its public name where it has one."
    >
      <form
        class="stack"
        onSubmit={event => {
          event.preventDefault()
          void test.run()
        }}
      >
        {smtp.ports.length > 1 && (
          <Choose
            label="Port to test"
            value={`${port}`}
            options={smtp.ports.map(one => [`${one.port}`, `${one.port}`])}
            onValue={value => setPort(Number(value))}
            fault={test.error?.of('port')}
          />
        )}
        <TextField
          label="API key"
          type="password"
          autocomplete="off"
          placeholder={`${prefix}…`}
          hint="To test the login, too. The key is used for this test only."
          value={key}
          onValue={setKey}
          fault={test.error?.of('api_key')}
        />
        {test.error && <Failure error={test.error} act="The test was not made" />}
        <div>
          <Button type="submit" disabled={test.isBusy}>
            {test.isBusy ? 'Testing …' : 'Test connection'}
          </Button>
        </div>
        <div role="status">{result && <Steps result={result} />}</div>
      </form>
    </Card>
  )
}

function Steps({ result: { ok, host, port, steps } }: { result: SmtpTest }) {
  return (
    <div class="stack stack-tight">
      <p>{ok ? `Programs can reach ${host}, port ${port}.` : `The test of ${host}, port ${port} failed.`}</p>
      <ol class="stack stack-tight">
        {steps.map(({ step, status, message, duration_ms }, i) => (
          <li key={i}>
            <Mark tone={RESULTS[status][0]}>{RESULTS[status][1]}</Mark> <b>{STEPS[step]}</b>
            {duration_ms !== null && <span class="quiet small"> {duration_ms} ms</span>}
            <br />
            <span class="quiet">{message}</span>
          </li>
        ))}
      </ol>
    </div>
  )
}
