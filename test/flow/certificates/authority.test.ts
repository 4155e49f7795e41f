import { X509Certificate } from 'node:crypto'
import { connect as connectTls, type PeerCertificate, type TLSSocket } from 'node:tls'
import * as assert from 'uvu/assert'
import { type Authority, type Challenge, startAuthority } from '../../kit/authority.ts'
import { freePort } from '../../kit/free-port.ts'
import { type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { dialSmtp } from '../../kit/smtp-client.ts'
import { suite } from '../../kit/suite.ts'
import { until } from '../../kit/until.ts'
import { askServer } from '../../kit/zone-client.ts'

/**
 * The certificate comes from an authority: proven by what we serve, shown by all listeners, changed while
 * they listen.
 */
const test = suite('a certificate from an authority')

const caFile = new URL('../../kit/certs/ca.pem', import.meta.url).pathname
const HOST = 'mail.example.com'
/** MX hosts of the records that customers in each region get. */
const MX_HOSTS = ['us-west-2', 'us-east-1', 'eu-west-1'].map(region => `feedback-smtp.${region}.${HOST}`)
const challenges: Challenge[] = []

let authority: Authority
let mailhorn: Mailhorn
let plainPort: number
/** The certificate shown before there was any from the authority. */
let own: X509Certificate
const started = Promise.withResolvers<void>()

test.before(async () => {
  plainPort = await freePort()
  authority = await startAuthority({ now: () => mailhorn.clock.now(), prove })
  mailhorn = await startMailhorn({
    dns: true,
    env: {
      MAILHORN_MAIL_HOST: HOST,
      MAILHORN_ADMIN_EMAIL: 'admin@mailhorn.test',
      MAILHORN_ACME_ENABLED: 'true',
      MAILHORN_SMTP_INBOUND_MTA_STS: 'enforce',
      MAILHORN_ACME_DIRECTORY_URL: authority.directoryUrl,
      MAILHORN_ACME_CA_FILE: caFile,
      MAILHORN_ACME_LISTEN: `127.0.0.1:${plainPort}`,
      MAILHORN_ACME_NAMES: 'app.example.com',
      MAILHORN_HTTP_TLS_LISTEN: '127.0.0.1:0',
      MAILHORN_SMTP_SUBMISSION_LISTEN: '127.0.0.1:0',
      MAILHORN_SMTP_SUBMISSION_TLS_LISTEN: '127.0.0.1:0',
      MAILHORN_DNS_ADDRESSES: '127.0.0.1',
    },
  })
  own = await overTls(mailhorn.app.secureAddress!.port)
  started.resolve()
})

test.after(async () => {
  await mailhorn.close()
  await authority.close()
})

/** Validates a challenge as the authority does: over UDP, or over plain HTTP. */
async function prove(challenge: Challenge): Promise<string | undefined> {
  await started.promise
  challenges.push(challenge)
  const { type, name, token } = challenge
  if (type === 'dns-01') {
    const server = `127.0.0.1:${mailhorn.app.dnsAddress!.port}`
    const { answers } = await askServer(server, `_acme-challenge.${name}`, 'TXT')
    return answers[0]?.type === 'TXT' ? answers[0].text : undefined
  }
  const response = await fetch(`http://127.0.0.1:${plainPort}/.well-known/acme-challenge/${token}`)
  return response.text()
}

const shownBy = (socket: TLSSocket) => {
  const { raw } = socket.getPeerCertificate() as PeerCertificate
  socket.destroy()
  return new X509Certificate(raw)
}

function overTls(port: number, servername = HOST): Promise<X509Certificate> {
  return new Promise((resolve, reject) => {
    const socket = connectTls({ port, host: '127.0.0.1', servername, rejectUnauthorized: false }, () =>
      resolve(shownBy(socket)),
    )
    socket.once('error', reject)
  })
}

async function overStarttls(port: number): Promise<X509Certificate> {
  const client = await dialSmtp({ port })
  await client.reply()
  await client.say('EHLO client.example')
  await client.say('STARTTLS')
  return shownBy(await client.startTls())
}

async function shown(): Promise<X509Certificate[]> {
  const { inboundAddress, submission, secureAddress } = mailhorn.app
  return [
    await overStarttls(inboundAddress!.port),
    await overStarttls(submission.submission!.port),
    await overTls(submission.submissionTls!.port),
    await overTls(secureAddress!.port),
  ]
}

/** Resolves with the serial number of the served certificate once it has changed. */
const next = (before: string) =>
  until(async () => {
    mailhorn.clock.advance(100)
    const { serialNumber } = await overTls(mailhorn.app.secureAddress!.port)
    return serialNumber === before ? undefined : serialNumber
  })

test('the self-signed certificate that is shown at first covers every MX host', () => {
  for (const host of [HOST, ...MX_HOSTS]) assert.is(own.checkHost(host), host)
})

test('names of the zone are proven by its records, others by files, and every listener shows it', async () => {
  const serial = await next(own.serialNumber)
  assert.equal(
    challenges.map(({ type, name }) => [type, name]),
    [
      ['dns-01', HOST],
      ...MX_HOSTS.map(host => ['dns-01', host]),
      ['dns-01', `mta-sts.${HOST}`],
      ['http-01', 'app.example.com'],
    ],
  )
  for (const certificate of await shown()) {
    assert.is(certificate.serialNumber, serial)
    for (const host of [HOST, ...MX_HOSTS, 'app.example.com']) assert.is(certificate.checkHost(host), host)
  }
})

test('what proved them is gone afterwards, and was never more than asked for', async () => {
  const server = `127.0.0.1:${mailhorn.app.dnsAddress!.port}`
  const rcodeOf = async (name: string) => (await askServer(server, name, 'TXT')).rcode
  assert.is(await rcodeOf(`_acme-challenge.${HOST}`), 3)
  assert.is(await rcodeOf(`mta-sts.${HOST}`), 0)
  assert.is(await rcodeOf(`_acme-challenge.other.${HOST}`), 3)
  const { status } = await mailhorn.call('GET', `/.well-known/acme-challenge/${challenges.at(-1)!.token}`)
  assert.is(status, 404)
  const elsewhere = await fetch(`http://127.0.0.1:${plainPort}/domains`)
  assert.match(await elsewhere.text(), /not_found/)
})

test('the API is there over TLS, too', async () => {
  const { secureAddress } = mailhorn.app
  const answer = await new Promise<string>((resolve, reject) => {
    const socket = connectTls({ port: secureAddress!.port, host: '127.0.0.1', rejectUnauthorized: false })
    let heard = ''
    socket.setEncoding('utf8')
    socket.on('data', chunk => {
      heard += chunk
    })
    socket.on('end', () => resolve(heard))
    socket.on('error', reject)
    socket.write(`GET /healthz HTTP/1.1\r\nhost: ${HOST}\r\nconnection: close\r\n\r\n`)
  })
  assert.match(answer, /^HTTP\/1\.1 200 /)
  assert.match(answer, /"status":"ok"/)
})

test('the doctor says how long it is good', async () => {
  const session = await mailhorn.signIn()
  const { body } = await mailhorn.call('GET', '/doctor', { session })
  const found = body.findings.filter(({ check }: { check: string }) => check === 'certificate')
  assert.equal(
    found.map(({ status, subject }: Record<string, string>) => [status, subject]),
    [['ok', HOST]],
  )
})

test('a renewed one is shown to whoever connects from then on; who is connected stays so', async t => {
  const [before] = await shown()
  const client = await t.using(dialSmtp(mailhorn.app.inboundAddress!))
  await client.reply()
  mailhorn.clock.advance(61 * 86_400_000)
  const serial = await next(before!.serialNumber)
  for (const certificate of await shown()) assert.is(certificate.serialNumber, serial)
})

test('when the authority gives none, the one before stays, and the operator is told', async () => {
  const [before] = await shown()
  const fault = { status: 403, type: 'rejectedIdentifier', detail: 'not on our list' }
  authority.failNext('newOrder', fault)
  mailhorn.clock.advance(61 * 86_400_000)
  const alert = await until(() => {
    mailhorn.clock.advance(100)
    return mailhorn.rows<Record<string, string>>(
      "select kind, domain, reply from operator_alerts where kind = 'certificate'",
    )[0]
  })
  assert.equal(
    [alert.kind, alert.domain, alert.reply],
    ['certificate', HOST, 'rejectedIdentifier: not on our list'],
  )
  for (const certificate of await shown()) assert.is(certificate.serialNumber, before!.serialNumber)
})

test('operators see names, expiry and the failed order, and order at once', async () => {
  // former sessions have ended by now
  const { body: signedIn } = await mailhorn.call('POST', '/auth/login', { body: mailhorn.admin })
  const session = signedIn.token
  const listed = async () => (await mailhorn.call('GET', '/installation/certificates', { session })).body.data
  const [before] = await shown()
  const [certificate, ...others] = await listed()
  assert.equal(others, [])
  assert.equal(certificate.names.slice(0, 2), [HOST, MX_HOSTS[0]])
  assert.is(certificate.source, 'authority')
  assert.is(Date.parse(certificate.expires_at), before!.validToDate.getTime())
  assert.equal(
    [certificate.order.status, certificate.order.error],
    ['failed', 'rejectedIdentifier: not on our list'],
  )
  const { body: ordered } = await mailhorn.call('POST', '/installation/certificates/order', {
    ...{ session, body: { host: HOST } },
  })
  assert.equal(ordered, { object: 'certificate_order', host: HOST, ordered: true, reason: null })
  const serial = await next(before!.serialNumber)
  for (const other of await shown()) assert.is(other.serialNumber, serial)
  const [renewed] = await listed()
  assert.equal([renewed.order.status, renewed.order.error], ['waiting', null])
  const refused = await mailhorn.call('POST', '/installation/certificates/order', {
    ...{ session, body: { host: 'other.example' } },
  })
  assert.equal([refused.status, refused.body.errors[0].path], [422, 'host'])
})

test.run()
