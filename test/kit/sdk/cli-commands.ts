/** Arguments for every command of the official command line that calls the API. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { UNKNOWN_ID } from './arguments.ts'
import type { SdkWorld } from './calls.ts'
import {
  BROADCAST,
  claimedDomain,
  contactOf,
  deliveredEmail,
  domainOf,
  draftOf,
  foreignDomain,
  importOf,
  keyOf,
  MAIL,
  memberOf,
  propertyOf,
  receivedEmail,
  scheduledEmail,
  segmentOf,
  sentBroadcast,
  suppressionOf,
  templateOf,
  topicOf,
  webhookOf,
} from './fixtures.ts'

/** @param folder for files that the command reads */
type Arguments = (world: SdkWorld, folder: string) => Promise<string[]> | string[]

/** Commands that call no API, run until they are ended, or open a page of Resend's own site in a browser. */
export const OTHER_COMMANDS = [
  ...['login', 'logout', 'auth', 'open', 'docs', 'update', 'commands', 'completion', 'careers', 'doctor'],
  ...['broadcasts open', 'automations open', 'events open', 'templates open', 'logs open'],
  ...['emails receiving listen', 'webhooks listen'],
]

/** One command that takes an id of what was made. */
const by =
  (make: (world: SdkWorld) => Promise<string>, ...more: string[]): Arguments =>
  async world => [await make(world), ...more]

function fileOf(folder: string, name: string, text: string): string {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

const STEPS = JSON.stringify([{ key: 'start', type: 'trigger', config: { event_name: 'user.created' } }])
const MESSAGE = ['--from', MAIL.from, '--subject', MAIL.subject, '--text', MAIL.text]
const idOf = async (make: Promise<{ id: string }>) => (await make).id
const eventOf = async (world: SdkWorld) => {
  const { webhookId, eventId } = await world.receivedEvent()
  return [webhookId, eventId]
}
const addresses = (folder: string, ...emails: string[]) => [
  '--file',
  fileOf(folder, 'addresses.json', JSON.stringify(emails)),
]

export const CLI_COMMANDS: Readonly<Record<string, Arguments>> = {
  'emails list': () => ['--limit', '5'],
  'emails send': world => [
    ...[...MESSAGE, '--to', MAIL.to, '--cc', 'delivered+cc@simulator.test', '--reply-to', 'r@here.example'],
    ...['--tags', 'kind=test', '--headers', 'X-Entity-Ref-ID=1', '--idempotency-key', world.fresh('key')],
    ...['--scheduled-at', world.inHours(1)],
  ],
  'emails get': by(deliveredEmail),
  'emails batch': (_, folder) => ['--file', fileOf(folder, 'emails.json', JSON.stringify([MAIL, MAIL]))],
  'emails cancel': by(scheduledEmail),
  'emails update': async world => [await scheduledEmail(world), '--scheduled-at', world.inHours(2)],
  'emails share': by(deliveredEmail, '--expires-in', '1h'),
  'emails metrics': () => [
    '--dimensions',
    'period',
    '--granularity',
    'daily',
    '--metrics',
    'delivered,open_rate',
  ],
  'emails attachments': by(deliveredEmail),
  'emails attachment': async world => {
    const emailId = await deliveredEmail(world)
    const { data } = await world.resend.emails.attachments.list({ emailId })
    return [emailId, data!.data[0]!.id]
  },
  'emails receiving list': () => [],
  'emails receiving get': by(async world => (await receivedEmail(world)).id),
  'emails receiving attachments': by(async world => (await receivedEmail(world)).id),
  'emails receiving attachment': async world => Object.values(await receivedEmail(world)),
  'emails receiving forward': by(
    async world => (await receivedEmail(world)).id,
    ...['--to', MAIL.to, '--from', MAIL.from],
  ),

  'broadcasts create': async world => [
    ...['--from', BROADCAST.from, '--subject', 'May', '--html', BROADCAST.html, '--name', 'May'],
    ...['--segment-id', await segmentOf(world), '--topic-id', await topicOf(world), '--preview-text', 'News'],
  ],
  'broadcasts send': by(draftOf),
  'broadcasts get': by(draftOf),
  'broadcasts list': () => [],
  'broadcasts recipients': by(sentBroadcast, '--type', 'clicked'),
  'broadcasts update': by(draftOf, '--subject', 'June'),
  'broadcasts cancel': by(world => draftOf(world, { send: true, scheduled_at: world.inHours(1) })),
  'broadcasts duplicate': by(draftOf),
  'broadcasts delete': by(draftOf, '--yes'),
  'broadcasts clicked-links': by(sentBroadcast),

  'automations create': () => ['--name', 'Welcome', '--steps', STEPS, '--connections', '[]'],
  'automations get': () => [UNKNOWN_ID],
  'automations list': () => [],
  'automations update': () => [UNKNOWN_ID, '--status', 'enabled'],
  'automations delete': () => [UNKNOWN_ID, '--yes'],
  'automations duplicate': () => [UNKNOWN_ID],
  'automations stop': () => [UNKNOWN_ID],
  'automations runs list': () => [UNKNOWN_ID],
  'automations runs get': () => ['--automation-id', UNKNOWN_ID, '--run-id', UNKNOWN_ID],

  'events create': () => ['--name', 'user.created'],
  'events get': () => ['user.created'],
  'events list': () => [],
  'events update': () => ['user.created', '--schema', '{"plan":"string"}'],
  'events delete': () => ['user.created', '--yes'],
  'events send': () => ['--event', 'user.created', '--email', 'ann@there.example'],

  'templates create': world => [
    ...['--name', 'Order', '--html', '<p>{{{NO}}}</p>', '--subject', 'Order', '--from', MAIL.from],
    ...['--alias', world.fresh('order'), '--reply-to', 'r@here.example', '--var', 'NO:number:7'],
  ],
  'templates get': by(templateOf),
  'templates list': () => [],
  'templates update': by(templateOf, '--name', 'Bill'),
  'templates delete': by(templateOf, '--yes'),
  'templates publish': by(templateOf),
  'templates duplicate': by(templateOf),

  'contacts create': async world => [
    ...['--email', `${world.fresh('ann')}@there.example`, '--first-name', 'Ann', '--last-name', 'Doe'],
    ...['--properties', '{"city":"Rome"}', '--segment-id', await segmentOf(world)],
  ],
  'contacts get': by(world => idOf(contactOf(world))),
  'contacts list': () => [],
  'contacts update': by(world => idOf(contactOf(world)), '--unsubscribed', '--properties', '{"city":"Oslo"}'),
  'contacts delete': by(world => idOf(contactOf(world)), '--yes'),
  'contacts segments': by(world => idOf(memberOf(world))),
  'contacts add-segment': async world => [
    ...[(await contactOf(world)).id, '--segment-id', await segmentOf(world)],
  ],
  'contacts remove-segment': async world => {
    const { id, segmentId } = await memberOf(world)
    return [id, segmentId]
  },
  'contacts topics': by(world => idOf(contactOf(world))),
  'contacts update-topics': async world => [
    (await contactOf(world)).id,
    ...['--topics', JSON.stringify([{ id: await topicOf(world), subscription: 'opt_out' }])],
  ],
  'contacts imports create': (world, folder) => [
    ...['--file', fileOf(folder, 'contacts.csv', `mail\n${world.fresh('cleo')}@there.example\n`)],
    ...['--column-map', '{"email":"mail"}', '--on-conflict', 'upsert'],
  ],
  'contacts imports get': by(importOf),
  'contacts imports list': () => [],
  'contact-properties create': world => [
    ...['--key', world.fresh('key'), '--type', 'string', '--fallback-value', 'none'],
  ],
  'contact-properties get': by(propertyOf),
  'contact-properties list': () => [],
  'contact-properties update': by(propertyOf, '--fallback-value', 'none'),
  'contact-properties delete': by(propertyOf, '--yes'),

  'segments contacts': by(async world => (await memberOf(world)).segmentId),
  'segments create': world => ['--name', world.fresh('Readers')],
  'segments get': by(segmentOf),
  'segments list': () => [],
  'segments update': by(segmentOf, '--name', 'Others'),
  'segments delete': by(segmentOf, '--yes'),
  'topics create': world => ['--name', world.fresh('Digest'), '--default-subscription', 'opt_in'],
  'topics get': by(topicOf),
  'topics list': () => [],
  'topics update': by(topicOf, '--description', 'Once a month'),
  'topics delete': by(topicOf, '--yes'),

  'domains create': world => ['--name', `${world.fresh('shop')}.example`, '--region', 'eu-west-1'],
  'domains verify': by(domainOf),
  'domains get': by(domainOf),
  'domains list': () => [],
  'domains update': by(domainOf, '--open-tracking', '--tls', 'enforced'),
  'domains delete': by(domainOf, '--yes'),
  'domains claim create': async world => ['--name', await foreignDomain(world)],
  'domains claim get': by(claimedDomain),
  'domains claim verify': by(claimedDomain),

  'logs get': by(async ({ resend }) => (await resend.logs.list()).data?.data[0]?.id ?? UNKNOWN_ID),
  'logs list': () => [],
  'suppressions list': () => ['--origin', 'manual'],
  'suppressions add': world => [`${world.fresh('no')}@there.example`],
  'suppressions get': by(async world => (await suppressionOf(world)).email),
  'suppressions delete': by(async world => (await suppressionOf(world)).email, '--yes'),
  'suppressions batch add': (world, folder) => addresses(folder, `${world.fresh('no')}@there.example`),
  'suppressions batch remove': async (world, folder) => addresses(folder, (await suppressionOf(world)).email),
  'api-keys create': world => ['--name', world.fresh('key'), '--permission', 'sending_access'],
  'api-keys list': () => [],
  'api-keys update': by(keyOf, '--name', 'other'),
  'api-keys delete': by(keyOf, '--yes'),

  'webhooks create': () => ['--endpoint', 'https://hooks.invalid/', '--events', 'all'],
  'webhooks get': by(webhookOf),
  'webhooks events list': async world => [(await world.receivedEvent()).webhookId],
  'webhooks events get': eventOf,
  'webhooks events attempts': eventOf,
  'webhooks events replay': eventOf,
  'webhooks list': () => [],
  'webhooks update': by(webhookOf, '--events', 'email.sent', '--status', 'disabled'),
  'webhooks rotate-signing-secret': by(webhookOf),
  'webhooks delete': by(webhookOf, '--yes'),
  'oauth-grants list': () => [],
  'oauth-grants revoke': () => [UNKNOWN_ID, '--yes'],
  whoami: () => [],
}
