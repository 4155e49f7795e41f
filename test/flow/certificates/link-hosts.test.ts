import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { get } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { type Authority, startAuthority } from '../../kit/authority.ts'
import { freePort } from '../../kit/free-port.ts'
import { type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { suite } from '../../kit/suite.ts'
import { until } from '../../kit/until.ts'

/** A customer's name for links gets a certificate of its own, and then links lead there. */
const test = suite('certificates of link hosts')
const CA_FILE = new URL('../../kit/certs/ca.pem', import.meta.url).pathname
const HOST = 'links.there.test'
const folder = mkdtempSync(join(tmpdir(), 'mailhorn-roots-'))
const rootFile = join(folder, 'root.pem')
/** Names that the authority has looked for a file at. */
const proven: string[] = []
let authority: Authority
let mailhorn: Mailhorn
let plainPort: number
let securePort: number
let session: string
let id: string

test.before(async () => {
  ;[plainPort, securePort] = [await freePort(), await freePort()]
  authority = await startAuthority({
    // the first certificate is asked for while the service starts
    now: () => (mailhorn as Mailhorn | undefined)?.clock.now() ?? Date.now(),
    async prove({ name, type, token, expected }) {
      if (type !== 'http-01' || name.endsWith('mailhorn.test')) return expected
      proven.push(name)
      const response = await fetch(`http://127.0.0.1:${plainPort}/.well-known/acme-challenge/${token}`)
      return response.text()
    },
  })
  writeFileSync(rootFile, authority.root)
  mailhorn = await startMailhorn({
    zone: 'app.test A 127.0.0.1',
    env: {
      MAILHORN_TRACKING_BASE_URL: `https://app.test:${securePort}`,
      MAILHORN_HTTP_TLS_LISTEN: `127.0.0.1:${securePort}`,
      MAILHORN_ACME_ENABLED: 'true',
      MAILHORN_ACME_DIRECTORY_URL: authority.directoryUrl,
      MAILHORN_ACME_CA_FILE: CA_FILE,
      MAILHORN_ACME_LISTEN: `127.0.0.1:${plainPort}`,
      MAILHORN_DELIVERY_CA_FILE: rootFile,
      MAILHORN_FETCH_ALLOW_LOOPBACK: 'true',
    },
  })
  session = await mailhorn.signIn()
  id = (await mailhorn.verifiedDomain('there.test')).id
})
test.after(async () => {
  await mailhorn.close()
  await authority.close()
  rmSync(folder, { recursive: true })
})

const change = (body: object) => mailhorn.call('PATCH', `/domains/${id}`, { session, body })
const statusOfRecord = async () => {
  const { body } = await mailhorn.call('GET', `/domains/${id}`, { session })
  return body.records.find(({ record }: { record: string }) => record === 'Tracking').status
}

/** Over TLS that is checked, by the host's name. */
function visit(path: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const place = { host: '127.0.0.1', port: securePort, servername: HOST, ca: authority.root, agent: false }
    get({ ...place, path, headers: { host: `${HOST}:${securePort}` } }, response => {
      response.resume()
      resolve(response.statusCode!)
    }).once('error', reject)
  })
}

test('an authority is not asked for a name whose record does not lead here', async () => {
  await change({ tracking_subdomain: 'links' })
  await mailhorn.call('POST', `/domains/${id}/verify`, { session })
  assert.is(await statusOfRecord(), 'pending')
  await until(() => authority.orderCount === 1)
  assert.equal(proven, [])
})

test('once the record is there, a certificate is got, and links lead there without anybody asking', async () => {
  mailhorn.zone.add(`${HOST} CNAME app.test`)
  const { body } = await mailhorn.call('POST', `/domains/${id}/verify`, { session })
  assert.is(body.checks.tracking.problems[0].code, 'not_served')
  await until(async () => {
    mailhorn.clock.advance(100)
    return (await statusOfRecord()) === 'verified'
  })
  assert.equal(proven, [HOST])
  assert.equal([await visit('/c/x'), await visit('/emails')], [404, 404])
  assert.is(await visit('/.well-known/mailhorn-links'), 200)
  const [terms] = mailhorn.rows<{ base_url: string }>(
    'select base_url from link_terms join domains on link_terms.id = domains.tracking_terms',
  )
  assert.is(terms!.base_url, `https://${HOST}:${securePort}`)
})

test('a host that is wanted no more gets no other certificate', async () => {
  const before = authority.orderCount
  await change({ tracking_subdomain: '' })
  mailhorn.clock.advance(80 * 86_400_000)
  await until(() => {
    mailhorn.clock.advance(100)
    return authority.orderCount > before
  })
  assert.equal(proven, [HOST])
})

test.run()
