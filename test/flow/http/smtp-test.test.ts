import * as assert from 'uvu/assert'
import { addAccount, openSession } from '../../kit/accounts.ts'
import { freePort } from '../../kit/free-port.ts'
import { type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { assertRefusal } from '../../kit/refusals.ts'
import { suite, type TestContext } from '../../kit/suite.ts'

const test = suite('test of the ports for SMTP submission')

interface Step {
  step: string
  status: string
  message: string
}

async function start(t: TestContext, given: Record<string, string> = {}, zone = '') {
  const [starttls, tls] = [await freePort(), await freePort()]
  const mailhorn = await t.using(
    startMailhorn({
      zone,
      env: {
        MAILHORN_SMTP_SUBMISSION_LISTEN: `127.0.0.1:${starttls}`,
        MAILHORN_SMTP_SUBMISSION_TLS_LISTEN: `127.0.0.1:${tls}`,
        ...given,
      },
    }),
  )
  return { mailhorn, starttls, tls, session: openSession(mailhorn, 'bearer') }
}

async function run(mailhorn: Mailhorn, session: string, body: object) {
  const answer = await mailhorn.call('POST', '/installation/smtp-test', { session, body })
  assert.is(answer.status, 200, JSON.stringify(answer.body))
  const { steps, ok, address } = answer.body as { steps: Step[]; ok: boolean; address: string }
  return {
    ...{ ok, address, steps: steps.map(({ step, status }) => `${step} ${status}`) },
    message: (name: string) => steps.find(({ step }) => step === name)!.message,
  }
}

test('both ports are connected to, secured and logged in to', async t => {
  const { mailhorn, starttls, tls, session } = await start(t)
  const secured = await run(mailhorn, session, { port: starttls, api_key: mailhorn.apiKey })
  assert.equal(secured.steps, ['connect ok', 'greeting ok', 'tls warning', 'login ok'])
  assert.is(secured.ok, true)
  assert.match(secured.message('tls'), /^TLSv1\.3, .*self-signed/)
  assert.match(secured.message('login'), /235 2\.7\.0/)
  const implicit = await run(mailhorn, session, { port: tls, api_key: mailhorn.apiKey })
  assert.equal(implicit.steps, ['connect ok', 'tls warning', 'greeting ok', 'login ok'])
  // the port with TLS is the first one
  const { steps } = await run(mailhorn, session, {})
  assert.equal(steps, ['connect ok', 'tls warning', 'greeting ok', 'login skipped'])
})

test('keys of nobody and of another account are refused without a login', async t => {
  const { mailhorn, tls, session } = await start(t)
  const other = addAccount(mailhorn, 'other')
  for (const [asker, api_key] of [
    [session, 're_unknown'],
    [other.session, mailhorn.apiKey],
  ] as const) {
    const { ok, steps, message } = await run(mailhorn, asker, { port: tls, api_key })
    assert.equal([ok, steps.at(-1)], [false, 'login failed'])
    assert.is(message('login'), 'This is not an API key of your account.')
  }
})

test('a public host name is resolved, and its certificate is verified', async t => {
  const env = { MAILHORN_MAIL_HOST: 'mail.example.com' }
  const { mailhorn, tls, session } = await start(t, env, 'mail.example.com A 127.0.0.9')
  const { address, steps, message } = await run(mailhorn, session, { port: tls, api_key: mailhorn.apiKey })
  // nothing listens at the public address, as behind a router that keeps this host from it
  assert.equal(steps, [
    ...['resolve ok', 'connect warning', 'connect ok', 'tls warning', 'greeting ok', 'login ok'],
  ])
  assert.is(address, '127.0.0.1')
  assert.match(message('resolve'), '127.0.0.9')
})

test('a port that is not one of submission is refused', async t => {
  const { mailhorn, session, starttls, tls } = await start(t)
  const refused = (body: object) => mailhorn.call('POST', '/installation/smtp-test', { session, body })
  const answer = await refused({ port: 25 })
  assertRefusal(answer, { status: 422, name: 'validation_error' })
  assert.is(answer.body.errors[0].message, `\`port\` must be ${tls} or ${starttls}; got 25.`)
})

test('without a listener there is nothing to test', async t => {
  const mailhorn = await t.using(startMailhorn())
  const session = await mailhorn.signIn()
  const answer = await mailhorn.call('POST', '/installation/smtp-test', { session, body: {} })
  assert.equal(
    [answer.status, answer.body.ok, answer.body.port, answer.body.steps[0].message],
    [200, false, null, 'SMTP submission is off on this server.'],
  )
})

test.run()
