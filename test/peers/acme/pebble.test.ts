import { connect as connectTls } from 'node:tls'
import * as assert from 'uvu/assert'
import { freePort } from '../../kit/free-port.ts'
import { type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { suite, type TestContext } from '../../kit/suite.ts'
import { until } from '../../kit/until.ts'
import { startZone } from '../../kit/zone.ts'
import { runPebble } from './run-pebble.ts'

/** pebble judges what we prove and ask for; its certificates verify where we show them. */
const test = suite('pebble')

const HOST = 'mail.example.com'
const caFile = new URL('../../kit/certs/ca.pem', import.meta.url).pathname

async function setUp(t: TestContext, env: Record<string, string>, settings: Record<string, string> = {}) {
  const [httpPort, dnsPort] = [await freePort(), await freePort()]
  const zone = await t.using(startZone(`${HOST} A 127.0.0.1\napp.example.com A 127.0.0.1`))
  if (env.MAILHORN_ACME_CHALLENGE === 'dns-01') zone.forward(HOST, `127.0.0.1:${dnsPort}`)
  const pebble = await t.using(runPebble({ dnsServer: zone.server, httpPort, settings }))
  const mailhorn: Mailhorn = await t.using(
    startMailhorn({
      dns: true,
      env: {
        MAILHORN_MAIL_HOST: HOST,
        MAILHORN_ADMIN_EMAIL: 'admin@mailhorn.test',
        MAILHORN_ACME_ENABLED: 'true',
        MAILHORN_SMTP_INBOUND_MTA_STS: 'enforce',
        MAILHORN_ACME_DIRECTORY_URL: pebble.directoryUrl,
        MAILHORN_ACME_CA_FILE: caFile,
        MAILHORN_ACME_EMAIL: 'ann@example.com',
        MAILHORN_ACME_LISTEN: `127.0.0.1:${httpPort}`,
        MAILHORN_DNS_LISTEN: `127.0.0.1:${dnsPort}`,
        MAILHORN_DNS_ADDRESSES: '127.0.0.1',
        MAILHORN_SMTP_SUBMISSION_TLS_LISTEN: '127.0.0.1:0',
        ...env,
      },
    }),
  )
  return { mailhorn, pebble }
}

interface State {
  chain: string | null
  fault: string | null
}

const stateOf = (mailhorn: Mailhorn) => mailhorn.rows<State>('select chain, fault from certificates')[0]

/** Shown at port 465, and verified by pebble's root. @returns its names */
function verified({ app }: Mailhorn, root: string, servername: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const { port } = app.submission.submissionTls!
    const socket = connectTls({ port, host: '127.0.0.1', servername, ca: root }, () => {
      resolve(socket.getPeerCertificate().subjectaltname ?? '')
      socket.destroy()
    })
    socket.once('error', reject)
  })
}

const certified = (mailhorn: Mailhorn) =>
  until(() => {
    const state = stateOf(mailhorn)
    if (state?.fault) throw new Error(state.fault)
    return state?.chain
  })

for (const [challenge, names] of [
  ['dns-01', [HOST, `mta-sts.${HOST}`]],
  ['http-01', [HOST, 'app.example.com']],
] as const)
  test(`it gives a certificate for proofs by ${challenge}, though it turns some nonces away`, async t => {
    const settings = { PEBBLE_WFE_NONCEREJECT: '15', PEBBLE_AUTHZREUSE: '0' }
    const env = { MAILHORN_ACME_CHALLENGE: challenge, MAILHORN_ACME_NAMES: names.slice(1).join() }
    const { mailhorn, pebble } = await setUp(t, env, settings)
    await certified(mailhorn)
    for (const name of names)
      assert.match(await until(() => verified(mailhorn, pebble.root, name).catch(() => '')), `DNS:${name}`)
  })

test('it refuses what is not proven, and says why', async t => {
  const env = { MAILHORN_ACME_CHALLENGE: 'http-01', MAILHORN_ACME_NAMES: 'not-ours.example.com' }
  const { mailhorn } = await setUp(t, env, { PEBBLE_AUTHZREUSE: '0' })
  const fault = await until(() => stateOf(mailhorn)?.fault)
  assert.match(fault, /^not-ours\.example\.com was not proven by http-01: /)
  assert.is(stateOf(mailhorn)!.chain, null)
})

test('with authorizations that are good already it takes a renewal without new proofs', async t => {
  const { mailhorn, pebble } = await setUp(
    t,
    { MAILHORN_ACME_CHALLENGE: 'dns-01' },
    { PEBBLE_AUTHZREUSE: '100' },
  )
  const first = await certified(mailhorn)
  const [row] = mailhorn.rows<{ at: number }>('select next_at as at from certificates')
  mailhorn.clock.advance(Number(row!.at) - mailhorn.clock.now())
  await until(() => stateOf(mailhorn)!.chain !== first)
  assert.match(await until(() => verified(mailhorn, pebble.root, HOST).catch(() => '')), `DNS:${HOST}`)
})

test.run()
