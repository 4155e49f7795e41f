/** Makes what calls are about. Each function makes it anew, so that a call may change or remove it. */
import { addAccount } from '../accounts.ts'
import { addInbound } from '../inbound.ts'
import { zoneText } from '../mailhorn.ts'
import { until } from '../until.ts'
import { UNKNOWN_ID } from './arguments.ts'
import type { SdkWorld } from './calls.ts'

export const MAIL = { from: 'ann@here.example', to: 'delivered@simulator.test', subject: 'hi', text: 'hello' }
const RECEIVED = `From: Bob <bob@there.example>
To: anyone@mine.example
Subject: hello
Message-ID: <1@there.example>
Content-Type: multipart/mixed; boundary=b

--b

hello
--b
Content-Type: text/plain; name=a.txt

hello
--b--
`
export const BROADCAST = {
  from: 'ann@here.example',
  subject: 'May',
  html: '<a href="https://shop.example/">News</a> <a href="{{unsubscribe_url}}">Unsubscribe</a>',
}

export async function templateOf({ make }: SdkWorld): Promise<string> {
  const body = { name: 'Order', subject: 'Order {{NO}}', html: '<p>{{NO}}</p>', from: 'ann@here.example' }
  return (await make('/templates', body)).id
}

export async function deliveredEmail({ mailhorn, make }: SdkWorld): Promise<string> {
  const { id } = await make('/emails', {
    ...{ ...MAIL, attachments: [{ filename: 'a.txt', content: 'aGVsbG8=' }] },
  })
  await mailhorn.emailWhen(id, 'delivered')
  return id
}

export async function scheduledEmail({ make, inHours }: SdkWorld): Promise<string> {
  return (await make('/emails', { ...MAIL, scheduled_at: inHours(1) })).id
}

export async function receivedEmail({ mailhorn }: SdkWorld) {
  const session = await mailhorn.signIn()
  const { body: account } = await mailhorn.call('GET', '/account', { session })
  const { id, attachmentIds } = addInbound(mailhorn, account.id, { data: RECEIVED })
  return { id, attachmentId: attachmentIds[0]! }
}

export async function audienceOf({ make, fresh }: SdkWorld, ...locals: string[]): Promise<string> {
  const { id } = await make('/audiences', { name: fresh('Readers') })
  for (const local of locals) await make(`/audiences/${id}/contacts`, { email: `${local}@simulator.test` })
  return id
}

export async function draftOf(world: SdkWorld, more: object = {}): Promise<string> {
  const audience = await audienceOf(world, 'delivered')
  return (await world.make('/broadcasts', { ...BROADCAST, audience_id: audience, ...more })).id
}

/** Each of its recipients has had one kind of event. */
export async function sentBroadcast(world: SdkWorld): Promise<string> {
  const { mailhorn, make } = world
  const audience = await audienceOf(world, 'clicked', 'bounced', 'complained')
  const { id } = await make('/broadcasts', { ...BROADCAST, audience_id: audience, send: true })
  const session = await mailhorn.signIn()
  for (const type of ['clicked', 'bounced', 'complained'])
    await until(async () => {
      const { body } = await mailhorn.call('GET', `/broadcasts/${id}/recipients?type=${type}`, { session })
      return body.data.length > 0
    })
  await until(async () => {
    const { body } = await mailhorn.call('GET', `/broadcasts/${id}`, { session })
    return body.status === 'sent'
  })
  const uuid = Buffer.from(id.replace(/^brd_|-/g, ''), 'hex')
  mailhorn.change(
    `insert into broadcast_links (broadcast_id, link, account_id, url, click_count, unique_count, machine_count)
     select ?, 0, account_id, 'https://shop.example/', 5, 3, 1 from broadcasts where id = ?`,
    ...[uuid, uuid],
  )
  return id
}

export async function segmentOf({ make, fresh }: SdkWorld): Promise<string> {
  return (await make('/segments', { name: fresh('Readers') })).id
}

export async function topicOf({ make, fresh }: SdkWorld): Promise<string> {
  return (await make('/topics', { name: fresh('Digest') })).id
}

export async function contactOf({ make, fresh }: SdkWorld) {
  const email = `${fresh('ann')}@there.example`
  return { email, id: (await make('/contacts', { email })).id }
}

/** A contact in two segments. */
export async function memberOf(world: SdkWorld) {
  const [segmentId, other] = [await segmentOf(world), await segmentOf(world)]
  const email = `${world.fresh('bob')}@there.example`
  const segments = [{ id: segmentId }, { id: other }]
  const { id } = await world.make('/contacts', { email, segments, properties: { city: 'Rome', age: 4 } })
  return { id, email, segmentId }
}

export async function propertyOf({ make, fresh }: SdkWorld): Promise<string> {
  return (await make('/contact-properties', { key: fresh('key'), type: 'string' })).id
}

export async function suppressionOf({ make, fresh }: SdkWorld) {
  const email = `${fresh('no')}@there.example`
  return { email, id: (await make('/suppressions', { email })).id }
}

export async function importOf(world: SdkWorld): Promise<string> {
  const file = new Blob([`email\n${world.fresh('dan')}@there.example\n`])
  const { data } = await world.resend.contacts.imports.create({ file })
  return data!.id
}

export async function keyOf({ make, fresh }: SdkWorld): Promise<string> {
  return (await make('/api-keys', { name: fresh('key') })).id
}

export async function domainOf({ make, fresh }: SdkWorld): Promise<string> {
  return (await make('/domains', { name: `${fresh('shop')}.example`, region: 'eu-west-1' })).id
}

/** The name of a domain that another account has verified. */
export async function foreignDomain({ mailhorn, fresh }: SdkWorld): Promise<string> {
  const { session } = addAccount(mailhorn, fresh('holder'))
  const body = { name: `${fresh('shop')}.example`, region: 'eu-west-1' }
  const { body: domain } = await mailhorn.call('POST', '/domains', { session, body })
  mailhorn.zone.add(zoneText(domain.records))
  await mailhorn.call('POST', `/domains/${domain.id}/verify`, { session })
  return body.name
}

/** A claim to such a domain, by the id that the domain will have. Without claims, an id that nothing has. */
export async function claimedDomain(world: SdkWorld): Promise<string> {
  const { data } = await world.resend.domains.claims.create({ name: await foreignDomain(world) })
  return data?.domain_id ?? UNKNOWN_ID
}

export async function webhookOf({ make }: SdkWorld): Promise<string> {
  return (await make('/webhooks', { url: 'https://hooks.invalid/', events: ['email.sent'] })).id
}
