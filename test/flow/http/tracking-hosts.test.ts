import { request } from 'node:http'
import PostalMime from 'postal-mime'
import { Resend } from 'resend'
import * as assert from 'uvu/assert'
import { type FakeMx, startFakeMx } from '../../kit/fake-mx.ts'
import { type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { refuses } from '../../kit/refusals.ts'
import { suite } from '../../kit/suite.ts'
import { until } from '../../kit/until.ts'
import { startWebHost, type WebHost } from '../../kit/web-host.ts'

/** Links of a domain's mail lead to a host below it, once whoever goes there comes here. */
const test = suite('tracking hosts')
const CA_FILE = new URL('../../kit/certs/ca.pem', import.meta.url).pathname
const SHOP = 'https://shop.example/sale'
const DOMAIN = 'there.test'
const HOST = `links.${DOMAIN}`
const ZONE = `
  reader.example     MX 10 mx.reader.example
  mx.reader.example  A 127.0.0.2
  mx.test            A 127.0.0.1
`
let mx: FakeMx
/** Reverse proxy in front of the service, with a certificate for all names below the domain. */
let proxy: WebHost
/** Whether it passes on what comes, or has a page of its own. */
let isOurs = true
let mailhorn: Mailhorn
let session: string
let id: string

test.before(async () => {
  mx = await startFakeMx({ host: '127.0.0.2', tls: 'good' })
  proxy = await startWebHost({
    answer({ method, path, headers }, response) {
      if (!isOurs) return void response.end('a page of somebody else')
      const { hostname, port } = new URL(mailhorn.baseUrl)
      const requests = request(
        { hostname, port, method, path, headers },
        ({ statusCode, headers: input }) => {
          response.writeHead(statusCode!, input)
        },
      )
      requests.once('response', answer => answer.pipe(response))
      requests.end()
    },
  })
  mailhorn = await startMailhorn({
    zone: ZONE,
    mxPort: mx.port,
    env: {
      MAILHORN_TRACKING_BASE_URL: `https://mx.test:${proxy.port}`,
      MAILHORN_DELIVERY_CA_FILE: CA_FILE,
      MAILHORN_FETCH_ALLOW_LOOPBACK: 'true',
    },
  })
  session = await mailhorn.signIn()
  id = (await mailhorn.verifiedDomain(DOMAIN)).id
  await change({ open_tracking: true, click_tracking: true })
})
test.after(async () => {
  await mailhorn.close()
  await proxy.close()
  await mx.close()
})

const change = (body: object, of = id) => mailhorn.call('PATCH', `/domains/${of}`, { session, body })
const verify = async () => (await mailhorn.call('POST', `/domains/${id}/verify`, { session })).body
const trackingRecord = ({ records }: { records: { record: string; status: string }[] }) =>
  records.find(({ record }) => record === 'Tracking')!

let sentCount = 0
/** The links of an email that is sent now. */
async function newEmail(more: object = {}) {
  const to = `ok-${++sentCount}@reader.example`
  const sent = await mailhorn.send({
    ...{ from: `shop@${DOMAIN}`, to, subject: 'Sale', html: `<a href="${SHOP}">Sale</a>` },
    ...more,
  })
  await mailhorn.emailWhen(sent, 'delivered')
  const { html, headers } = await PostalMime.parse(
    mx.messages.findLast(({ rcptTo }) => rcptTo.includes(to))!.data,
  )
  const leave = headers.find(({ key }) => key === 'list-unsubscribe')?.value
  return {
    link: new URL(/href="([^"]+)"/.exec(html!)![1]!),
    pixel: new URL(/src="([^"]+)"/.exec(html!)![1]!),
    leave,
  }
}

/** Requests a path by the host's name, as visitors do. */
function ask(path: string, host: string): Promise<{ status: number; location: string | undefined }> {
  const { hostname, port } = new URL(mailhorn.baseUrl)
  return new Promise((resolve, reject) => {
    const requests = request({ hostname, port, path, headers: { host } }, response => {
      response.resume()
      resolve({ status: response.statusCode!, location: response.headers.location })
    })
    requests.once('error', reject)
    requests.end()
  })
}

test('a host is asked for by its name below the domain, and gets a record; links lead to the host of all as yet', async () => {
  assert.is((await verify()).checks.tracking, null)
  const { body } = await change({ tracking_subdomain: ' Links ' })
  assert.is(body.tracking_subdomain, 'links')
  assert.equal(trackingRecord(body), {
    ...{ record: 'Tracking', type: 'CNAME', host: HOST, name: HOST, value: 'mx.test' },
    ...{ ttl: 'Auto', status: 'not_started' },
  })
  const { checks, ...domain } = await verify()
  assert.equal([checks.tracking.status, checks.tracking.expected], ['pending', 'mx.test'])
  assert.is(trackingRecord(domain).status, 'pending')
  assert.is(domain.status, 'verified')
  assert.is((await newEmail()).link.host, `mx.test:${proxy.port}`)
})

test('a record that leads elsewhere is told from one that is missing', async () => {
  mailhorn.zone.add(`${HOST} CNAME old.elsewhere.test\nold.elsewhere.test A 127.0.0.9`)
  const { tracking } = (await verify()).checks
  assert.is(tracking.status, 'failed')
  assert.equal(tracking.found, ['old.elsewhere.test'])
  assert.match(tracking.advice, /links\.there\.test leads to old\.elsewhere\.test.* CNAME record to mx\.test/)
  mailhorn.zone.remove(`${HOST}`)
})

test('where the record is right and another service answers, links stay where they are', async () => {
  mailhorn.zone.add(`${HOST} CNAME mx.test`)
  isOurs = false
  const { tracking } = (await verify()).checks
  isOurs = true
  assert.equal([tracking.status, tracking.problems[0].code], ['pending', 'not_served'])
  assert.match(tracking.advice, /another service answers/)
  assert.is((await newEmail()).link.host, `mx.test:${proxy.port}`)
})

test('once whoever goes there comes here, links of new mail lead there', async () => {
  const { checks, ...domain } = await verify()
  assert.equal([checks.tracking.status, checks.tracking.advice], ['verified', null])
  assert.is(trackingRecord(domain).status, 'verified')
  const { body: topic } = await mailhorn.call('POST', '/topics', {
    session,
    body: { name: 'Sales', default_subscription: 'opt_in' },
  })
  const { link, pixel, leave } = await newEmail({ topic_id: topic.id })
  const host = `${HOST}:${proxy.port}`
  assert.equal([link.protocol, link.host, pixel.host], ['https:', host, host])
  assert.match(leave!, new RegExp(`<https://${host}/u/`))
  assert.equal(await ask(link.pathname, host), { status: 302, location: SHOP })
})

test('there is nothing else at the host', async () => {
  const host = `${HOST}:${proxy.port}`
  for (const path of ['/emails', '/dashboard/', '/', '/domains'])
    assert.is((await ask(path, host)).status, 404, path)
  assert.is((await ask('/.well-known/mailhorn-links', host)).status, 200)
  assert.is.not((await ask('/dashboard/', 'api.here.test')).status, 404)
})

test('when nobody gets here by it any more, links of new mail lead to the host of all again', async () => {
  isOurs = false
  const { checks } = await verify()
  assert.equal([checks.tracking.status, checks.tracking.problems[0].code], ['pending', 'not_served'])
  assert.is((await newEmail()).link.host, `mx.test:${proxy.port}`)
  isOurs = true
  await verify()
  assert.is((await newEmail()).link.host, `${HOST}:${proxy.port}`)
})

test('another host is looked at a minute later by itself', async () => {
  mailhorn.zone.add('go.there.test A 127.0.0.1')
  const { body } = await change({ tracking_subdomain: 'go' })
  assert.is(trackingRecord(body).status, 'not_started')
  assert.is((await newEmail()).link.host, `mx.test:${proxy.port}`)
  mailhorn.clock.advance(60_000)
  await until(async () => (await newEmail()).link.host === `go.there.test:${proxy.port}`)
  const { checks } = await verify()
  assert.equal(checks.tracking.status, 'verified', 'a name may lead here by an address of its own')
})

test('with nothing in the field there is no host, and no record', async () => {
  const { body } = await change({ tracking_subdomain: '' })
  assert.equal([body.records.length, 'tracking_subdomain' in body], [6, false])
  assert.is((await newEmail()).link.host, `mx.test:${proxy.port}`)
  assert.is((await verify()).checks.tracking, null)
})

for (const value of ['send', '_links', 'a b', '-links', 'a..b', 'x'.repeat(64), 'li/nks', 7, ['links']])
  test(`${JSON.stringify(value)} is no name for such a host`, async () => {
    await refuses(mailhorn, ['PATCH', `/domains/${id}`, { session, body: { tracking_subdomain: value } }], {
      status: 422,
      name: 'validation_error',
      path: 'tracking_subdomain',
    })
  })

test('a client of Resend gives the settings when it registers a domain', async () => {
  const resend = new Resend(session, { baseUrl: mailhorn.baseUrl })
  const { data, error } = await resend.domains.create({
    ...{ name: 'new.example', openTracking: true, clickTracking: true, trackingSubdomain: 'links' },
  })
  assert.is(error, null)
  assert.is(data!.tracking_subdomain, 'links')
  assert.equal([data!.open_tracking, data!.click_tracking], [true, true])
  assert.is(trackingRecord(data as never).record, 'Tracking')
})

test.run()
