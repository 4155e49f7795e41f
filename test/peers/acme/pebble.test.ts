import { connect as connectTls } from 'node:tls'
import * as assert from 'uvu/assert'
import { freePort } from '../../kit/free-port.ts'
import { type Posthorn, startPosthorn } from '../../kit/posthorn.ts'
import { suite, type TestContext } from '../../kit/suite.ts'
import { until } from '../../kit/until.ts'
import { startZone } from '../../kit/zone.ts'
import { runPebble } from './run-pebble.ts'

/** pebble judges what we prove and ask for; its certificates verify where we show them. */
const test = suite('pebble')

const HOST = 'mail.example.com'
const caFile = new URL('../../kit/certs/ca.pem', import.meta.url).pathname

async function given(t: TestContext, env: Record<string, string>, settings: Record<string, string> = {}) {
  const [httpPort, dnsPort] = [await freePort(), await freePort()]
  const zone = await t.using(startZone(`${HOST} A 127.0.0.1\napp.example.com A 127.0.0.1`))
  if (env.POSTHORN_ACME_CHALLENGE === 'dns-01') zone.forward(HOST, `127.0.0.1:${dnsPort}`)
  const pebble = await t.using(runPebble({ dnsServer: zone.server, httpPort, settings }))
  const posthorn: Posthorn = await t.using(
    startPosthorn({
      env: {
        POSTHORN_MAIL_HOST: HOST,
        POSTHORN_ADMIN_EMAIL: 'admin@posthorn.test',
        POSTHORN_ACME_ENABLED: 'true',
        POSTHORN_SMTP_INBOUND_MTA_STS: 'enforce',
        POSTHORN_ACME_DIRECTORY_URL: pebble.directoryUrl,
        POSTHORN_ACME_CA_FILE: caFile,
        POSTHORN_ACME_EMAIL: 'ann@example.com',
        POSTHORN_ACME_LISTEN: `127.0.0.1:${httpPort}`,
        POSTHORN_DNS_LISTEN: `127.0.0.1:${dnsPort}`,
        POSTHORN_DNS_ADDRESSES: '127.0.0.1',
        POSTHORN_DNS_RESPONSES_PER_SECOND: '0',
        POSTHORN_SMTP_SUBMISSION_TLS_LISTEN: '127.0.0.1:0',
        ...env,
      },
    }),
  )
  return { posthorn, pebble }
}

interface State {
  chain: string | null
  fault: string | null
}

const stateOf = (posthorn: Posthorn) => posthorn.rows<State>('select chain, fault from certificates')[0]

/** Shown at port 465, and verified by pebble's root. @returns its names */
function verified({ app }: Posthorn, root: string, servername: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const { port } = app.submission.submissionTls!
    const socket = connectTls({ port, host: '127.0.0.1', servername, ca: root }, () => {
      resolve(socket.getPeerCertificate().subjectaltname ?? '')
      socket.destroy()
    })
    socket.once('error', reject)
  })
}

const certified = (posthorn: Posthorn) =>
  until(() => {
    const state = stateOf(posthorn)
    if (state?.fault) throw new Error(state.fault)
    return state?.chain
  })

for (const [challenge, names] of [
  ['dns-01', [HOST, `mta-sts.${HOST}`]],
  ['http-01', [HOST, 'app.example.com']],
] as const)
  test(`it gives a certificate for proofs by ${challenge}, though it turns some nonces away`, async t => {
    const settings = { PEBBLE_WFE_NONCEREJECT: '15', PEBBLE_AUTHZREUSE: '0' }
    const env = { POSTHORN_ACME_CHALLENGE: challenge, POSTHORN_ACME_NAMES: names.slice(1).join() }
    const { posthorn, pebble } = await given(t, env, settings)
    await certified(posthorn)
    for (const name of names)
      assert.match(await until(() => verified(posthorn, pebble.root, name).catch(() => '')), `DNS:${name}`)
  })

test('it refuses what is not proven, and says why', async t => {
  const env = { POSTHORN_ACME_CHALLENGE: 'http-01', POSTHORN_ACME_NAMES: 'not-ours.example.com' }
  const { posthorn } = await given(t, env, { PEBBLE_AUTHZREUSE: '0' })
  const fault = await until(() => stateOf(posthorn)?.fault)
  assert.match(fault, /^not-ours\.example\.com was not proven by http-01: /)
  assert.is(stateOf(posthorn)!.chain, null)
})

test('with authorizations that are good already it takes a renewal without new proofs', async t => {
  const { posthorn, pebble } = await given(
    t,
    { POSTHORN_ACME_CHALLENGE: 'dns-01' },
    { PEBBLE_AUTHZREUSE: '100' },
  )
  const first = await certified(posthorn)
  const [row] = posthorn.rows<{ at: number }>('select next_at as at from certificates')
  posthorn.clock.advance(Number(row!.at) - posthorn.clock.now())
  await until(() => stateOf(posthorn)!.chain !== first)
  assert.match(await until(() => verified(posthorn, pebble.root, HOST).catch(() => '')), `DNS:${HOST}`)
})

test.run()
