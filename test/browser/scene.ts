/** A service with something to show on every page of the dashboard. */
import { parseWireId } from '../../src/lib/ids.ts'
import { type FakeMx, startFakeMx } from '../kit/fake-mx.ts'
import type { Mailhorn } from '../kit/mailhorn.ts'
import { sendMail } from '../kit/smtp-client.ts'
import { until } from '../kit/until.ts'
import { startWebHost } from '../kit/web-host.ts'
import { startMailhornWithWebhooks } from '../kit/webhook-sink.ts'
import { addAlert, addClicks, addWeeks, daysAgo } from './history.ts'

export interface Scene {
  mailhorn: Mailhorn
  mx: FakeMx
  /** Places of the dashboard, by a name for files. */
  places: (readonly [name: string, path: string])[]
  ids: {
    audience: string
    contact: string
    broadcast: string
    sent: string
    inbound: string
    webhook: string
    route: string
    delivered: string
    bounced: string
    delayed: string
    domain: string
    pending: string
    template: string
    refused: string
  }
  close(): Promise<void>
}

const WORLD = `
  there.example        MX 10 mx.there.example
  mx.there.example     A 127.0.0.2
  elsewhere.example    MX 10 mx.elsewhere.example
  25.0.0.127.zen.list.example A 127.0.0.2
  mx.elsewhere.example A 127.0.0.2
`
const HTML = `
  <div style="font: 16px/1.5 Georgia, serif; max-width: 560px; margin: 24px auto; color: #222">
    <h1 style="color: #7a5a00">Your order is on its way</h1>
    <p>Hello Ann, the lamp has left our workshop this morning and is with you on Thursday.</p>
    <p><a href="https://shop.example/orders/1042" style="background: #f2b90c; padding: 10px 18px; color: #111">Follow it</a></p>
  </div>`

/** Received, and full of script. */
const STRANGE = [
  'From: Ann <ann@there.example>',
  'To: orders@shop.example',
  'Subject: Where is my <script>alert(1)</script> lamp?',
  'Message-ID: <where@there.example>',
  'MIME-Version: 1.0',
  'Content-Type: text/html; charset=utf-8',
  '',
  '<p>Hello, where is my lamp?</p><script>top.alert(2)</script><img src=x onerror="top.alert(3)">',
  '',
].join('\r\n')

/** From an address that is new to the world, and on one of two lists. */
function warming(): Record<string, string> {
  return {
    MAILHORN_DELIVERY_SOURCE_IPS: '127.0.0.1=mail.shop.example',
    MAILHORN_DELIVERY_WARMUP: `127.0.0.1=${daysAgo(11)}`,
    MAILHORN_DNS_ADDRESSES: '127.0.0.25',
    MAILHORN_TRACKING_BASE_URL: 'https://links.shop.example',
    MAILHORN_DOCTOR_BLOCKLISTS: 'zen.list.example,bl.list.example',
  }
}

export async function startScene(): Promise<Scene> {
  const mx = await startFakeMx({ host: '127.0.0.2' })
  const mailhorn = await startMailhornWithWebhooks({ zone: WORLD, mxPort: mx.port, env: warming() })
  const program = await startWebHost({ answer: (_, response) => void response.end('thank you') })
  const session = await mailhorn.signIn()
  const make = async (path: string, body: object) => {
    const answer = await mailhorn.call('POST', path, { session, body })
    if (answer.status >= 300) throw new Error(`${path}: ${JSON.stringify(answer.body)}`)
    return answer.body
  }
  const domain = await mailhorn.verifiedDomain('shop.example')
  const pending = await make('/domains', { name: 'news.shop.example' })
  await make('/api-keys', { name: 'Web shop' })
  await make('/api-keys', { name: 'Newsletter', domain_id: pending.id })
  await make('/accounts', { name: 'Bakery', owner_email: 'ann@bakery.example', plan: 'pro' })
  await make('/suppressions', { email: 'nobody@there.example' })
  await make('/suppressions', { email: 'angry@there.example', reason: 'complaint' })
  const template = await make('/templates', {
    name: 'Order sent',
    subject: 'Your order {{order}} is on its way',
    html: HTML.replace('Ann', '{{first_name|there}}').trim(),
    text: 'Hello {{first_name|there}}, order {{order}} is on its way.',
  })
  await mailhorn.call('PUT', `/templates/${template.id}`, {
    session,
    body: { ...template, text: `${template.text}\n\nThe shop\n` },
  })
  const webhook = await make('/webhooks', {
    url: `https://hooks.example.test:${program.port}/mail-events`,
    events: ['email.delivered', 'email.bounced', 'email.complained'],
  })
  const audience = await make('/audiences', { name: 'Readers of the newsletter' })
  const contacts = [
    ['ann@there.example', 'Ann', 'Berg', { city: 'Vienna', plan: 'pro' }],
    ['ben@there.example', 'Ben', 'Cho', { city: 'Graz', 'Kunden-Nr.': '17' }],
    ['cleo@there.example', 'Cleo', 'Duran', { city: 'Vienna' }],
  ] as const
  const added = []
  for (const [email, first_name, last_name, properties] of contacts)
    added.push(await make(`/audiences/${audience.id}/contacts`, { email, first_name, last_name, properties }))
  await make(`/audiences/${audience.id}/segments`, {
    name: 'In Vienna',
    filters: [{ field: 'properties.city', op: 'eq', value: 'vienna' }],
  })
  await make('/topics', { name: 'Offers', description: 'Summer and winter prices, twice a year.' })
  const broadcast = await make('/broadcasts', {
    audience_id: audience.id,
    from: 'The shop <news@shop.example>',
    subject: 'Lamps for long evenings',
    html: HTML.replace('Ann', '{{first_name|there}}').trim(),
    text: 'Hello {{first_name|there}} {{unsubscribe_url}}',
  })
  const sent = await make('/broadcasts', {
    audience_id: audience.id,
    from: 'The shop <news@shop.example>',
    subject: 'Summer prices',
    html: HTML,
    text: 'Hello {{unsubscribe_url}}',
    send: true,
  })
  // emails are listed newest first: those of the broadcast are the oldest
  await until(async () => {
    const { body } = await mailhorn.call('GET', `/broadcasts/${sent.id}`, { session })
    return body.status === 'sent' || undefined
  })
  const mail = (to: string, subject: string, more: object = {}) =>
    mailhorn.send({
      from: 'The shop <orders@shop.example>',
      to,
      subject,
      html: HTML,
      text: 'It is on its way.',
      ...more,
    })
  const delivered = await mail('Ann <ann@there.example>', 'Your order is on its way', {
    attachments: [{ filename: 'invoice-1042.txt', content: 'UGFpZC4=' }],
    tags: [{ name: 'kind', value: 'order' }],
    headers: { 'X-Order': '1042' },
  })
  const bounced = await mail('perm-550-511@there.example', 'Your invoice 1042')
  const delayed = await mail('defer-451@elsewhere.example', 'Welcome to the shop')
  await mail('opened@simulator.test', 'A note from the workshop')
  await mail('complained@simulator.test', 'Ten days of summer prices')
  await mail('later@there.example', 'How do you like your lamp?', {
    scheduled_at: new Date(mailhorn.clock.now() + 3 * 86_400_000).toISOString(),
  })
  await sendMail(mailhorn.app.inboundAddress!, {
    from: 'ann@there.example',
    to: ['orders@shop.example'],
    data: STRANGE,
  })
  const route = await make('/inbound/routes', { match: 'noreply@shop.example', action: 'drop' })
  await sendMail(mailhorn.app.inboundAddress!, {
    ...{ from: 'ann@there.example', to: ['noreply@shop.example'] },
    data: STRANGE.replace('orders@', 'noreply@'),
  })
  const inbound = await until(async () => {
    const { body } = await mailhorn.call('GET', '/inbound', { session })
    return body.data[0]?.id as string | undefined
  })
  await mailhorn.emailWhen(delivered, 'delivered')
  await mailhorn.emailWhen(bounced, 'bounced')
  await mailhorn.emailWhen(delayed, 'delivery_delayed')
  const { body: account } = await mailhorn.call('GET', '/account', { session })
  const accountId = parseWireId('acc', account.id)!
  addWeeks(mailhorn, accountId)
  addClicks(mailhorn, accountId, sent.id)
  addAlert(mailhorn)
  const ids = {
    delivered,
    bounced,
    delayed,
    domain: domain.id,
    pending: pending.id,
    template: template.id,
    audience: audience.id,
    contact: added[0].id,
    broadcast: broadcast.id,
    sent: sent.id,
    inbound,
    webhook: webhook.id,
    route: route.id,
    refused: await refusedSend(mailhorn),
  }
  return {
    mailhorn,
    mx,
    ids,
    places: placesOf(ids),
    async close() {
      await mailhorn.close()
      await mx.close()
      await program.close()
    },
  }
}

/** @returns the id of the request in the log */
async function refusedSend(mailhorn: Pick<Mailhorn, 'call' | 'apiKey'>): Promise<string> {
  const body = { from: 'Shop <shop@shop.example>', subject: 'Your order', html: '<b>Thank you</b>' }
  const { headers } = await mailhorn.call('POST', '/emails', { key: mailhorn.apiKey, body })
  return `log_${headers.get('x-request-id')}`
}

function placesOf(ids: Scene['ids']): Scene['places'] {
  return [
    ['overview', '/'],
    ['start', '/start'],
    ['emails', '/emails'],
    ['compose', '/emails/compose'],
    ['email', `/emails/${ids.delivered}`],
    ['bounced', `/emails/${ids.bounced}`],
    ['delayed', `/emails/${ids.delayed}`],
    ['domains', '/domains'],
    ['domain', `/domains/${ids.pending}`],
    ['keys', '/keys'],
    ['webhooks', '/webhooks'],
    ['webhook', `/webhooks/${ids.webhook}`],
    ['templates', '/templates'],
    ['template', `/templates/${ids.template}`],
    ['inbox', '/inbox'],
    ['inbound', `/inbox/${ids.inbound}`],
    ['routes', '/inbox/routes'],
    ['route', `/inbox/routes/${ids.route}`],
    ['broadcasts', '/broadcasts'],
    ['draft', `/broadcasts/${ids.broadcast}`],
    ['broadcast', `/broadcasts/${ids.sent}`],
    ['recipients', `/broadcasts/${ids.sent}/recipients?type=delivered`],
    ['audiences', '/audiences'],
    ['audience', `/audiences/${ids.audience}`],
    ['contact', `/audiences/${ids.audience}/contacts/${ids.contact}`],
    ['segments', `/audiences/${ids.audience}?view=segments`],
    ['SMTP', '/smtp'],
    ['logs', '/logs'],
    ['log', `/logs/${ids.refused}`],
    ['suppressions', '/suppressions'],
    ['deliverability', '/deliverability'],
    ['setup', '/setup'],
    ['queue', '/queue'],
    ['destinations', '/destinations'],
    ['storage', '/storage'],
    ['server log', '/server-log'],
    ['backups', '/backups'],
    ['certificates', '/certificates'],
    ['configuration', '/configuration'],
    ['accounts', '/accounts'],
    ['usage', '/usage'],
    ['settings', '/settings'],
  ]
}
