/** Arguments for every tool of the official MCP server. */
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

type Arguments = (world: SdkWorld) => Promise<object> | object

const none: Arguments = () => ({})
/** One argument that names what was made. */
const by =
  (key: string, make: (world: SdkWorld) => Promise<string>, more: object = {}): Arguments =>
  async world => ({ [key]: await make(world), ...more })
const idOf = async (made: Promise<{ id: string }>) => (await made).id
const eventOf: Arguments = async world => {
  const { webhookId, eventId } = await world.receivedEvent()
  return { webhookId, eventId }
}
const LETTER = { to: [MAIL.to], from: MAIL.from, subject: MAIL.subject, text: MAIL.text }
/** Document of the editor in Resend's dashboard. */
const DOCUMENT = { type: 'doc', content: [] }
const WORKFLOW = {
  steps: [{ key: 'start', type: 'trigger', config: { eventName: 'user.created' } }],
  connections: [],
}

export const MCP_TOOLS: Readonly<Record<string, Arguments>> = {
  'get-tiptap-json-content': by('resource_id', draftOf, { resource_type: 'broadcast' }),
  'connect-to-editor': by('resource_id', draftOf, { resource_type: 'broadcast' }),
  'disconnect-from-editor': none,
  'compose-broadcast': by('broadcastId', draftOf, { content: DOCUMENT }),
  'compose-template': by('id', templateOf, { content: DOCUMENT }),

  'create-api-key': world => ({ name: world.fresh('key'), permission: 'sending_access' }),
  'list-api-keys': none,
  'update-api-key': by('id', keyOf, { name: 'other' }),
  'remove-api-key': by('id', keyOf),

  'create-automation': () => ({ name: 'Welcome', workflow: WORKFLOW }),
  'update-automation': () => ({ id: UNKNOWN_ID, name: 'Welcome' }),
  'get-automation': () => ({ id: UNKNOWN_ID }),
  'duplicate-automation': () => ({ id: UNKNOWN_ID }),
  'remove-automation': () => ({ id: UNKNOWN_ID }),
  'get-automation-runs': () => ({ automationId: UNKNOWN_ID }),
  'send-event': () => ({ event: 'user.created', email: 'ann@there.example' }),
  'manage-events': () => ({ action: 'list' }),

  'create-broadcast': async world => ({
    ...{ ...BROADCAST, name: 'May', segmentId: await segmentOf(world), previewText: 'News' },
    replyTo: ['r@here.example'],
  }),
  'send-broadcast': by('broadcastId', draftOf),
  'list-broadcasts': none,
  'get-broadcast': by('broadcastId', draftOf),
  'cancel-broadcast': by('broadcastId', world =>
    draftOf(world, { send: true, scheduled_at: world.inHours(1) }),
  ),
  'duplicate-broadcast': by('broadcastId', draftOf),
  'remove-broadcast': by('broadcastId', draftOf),
  'update-broadcast': by('broadcastId', draftOf, { subject: 'June' }),
  'list-broadcast-clicked-links': by('broadcastId', sentBroadcast),
  'list-broadcast-recipients': by('broadcastId', sentBroadcast, { type: 'clicked' }),

  'create-contact-import': world => ({
    ...{ content: `mail\n${world.fresh('cleo')}@there.example\n`, filename: 'contacts.csv' },
    ...{ columnMap: { email: 'mail' }, onConflict: 'upsert' },
  }),
  'get-contact-import': by('id', importOf),
  'list-contact-imports': none,
  'create-contact-property': world => ({ key: world.fresh('key'), type: 'string', fallbackValue: 'none' }),
  'list-contact-properties': none,
  'get-contact-property': by('contactPropertyId', propertyOf),
  'update-contact-property': by('contactPropertyId', propertyOf, { fallbackValue: 'none' }),
  'remove-contact-property': by('contactPropertyId', propertyOf),
  'create-contact': async world => ({
    ...{ email: `${world.fresh('ann')}@there.example`, firstName: 'Ann', properties: { city: 'Rome' } },
    segmentIds: [await segmentOf(world)],
    topics: [{ id: await topicOf(world), subscription: 'opt_out' }],
  }),
  'list-contacts': none,
  'get-contact': by('id', world => idOf(contactOf(world))),
  'update-contact': by('id', world => idOf(contactOf(world)), {
    firstName: 'Ann',
    properties: { city: 'Oslo' },
  }),
  'remove-contact': by('id', world => idOf(contactOf(world))),
  'add-contact-to-segment': async world => ({
    ...{ contactId: (await contactOf(world)).id, segmentId: await segmentOf(world) },
  }),
  'remove-contact-from-segment': async world => {
    const { id: contactId, segmentId } = await memberOf(world)
    return { contactId, segmentId }
  },
  'list-contact-segments': by('contactId', world => idOf(memberOf(world))),
  'list-contact-topics': by('id', world => idOf(contactOf(world))),
  'update-contact-topics': async world => ({
    id: (await contactOf(world)).id,
    topics: [{ id: await topicOf(world), subscription: 'opt_out' }],
  }),

  'create-domain': world => ({
    ...{ name: `${world.fresh('shop')}.example`, region: 'eu-west-1', openTracking: true, tls: 'enforced' },
  }),
  'list-domains': none,
  'get-domain': by('id', domainOf),
  'update-domain': by('id', domainOf, { clickTracking: true }),
  'remove-domain': by('id', domainOf),
  'verify-domain': by('id', domainOf),
  'create-domain-claim': by('name', foreignDomain),
  'get-domain-claim': by('id', claimedDomain),
  'verify-domain-claim': by('id', claimedDomain),

  'send-email': world => ({
    ...{ ...LETTER, cc: ['delivered+cc@simulator.test'], tags: [{ name: 'kind', value: 'test' }] },
    ...{ scheduledAt: world.inHours(1), idempotencyKey: world.fresh('key') },
    ...{ headers: { 'X-Entity-Ref-ID': '1' }, attachments: [{ filename: 'a.txt', content: 'aGVsbG8=' }] },
  }),
  'list-emails': none,
  'get-email': by('id', deliveredEmail),
  'list-received-emails': none,
  'get-received-email': by('id', world => idOf(receivedEmail(world))),
  'list-received-email-attachments': by('emailId', world => idOf(receivedEmail(world))),
  'get-received-email-attachment': async world => {
    const { id: emailId, attachmentId: id } = await receivedEmail(world)
    return { emailId, id }
  },
  'cancel-email': by('id', scheduledEmail),
  'update-email': async world => ({ id: await scheduledEmail(world), scheduledAt: world.inHours(2) }),
  'share-email': by('id', deliveredEmail, { expiresIn: '1h' }),
  'get-email-metrics': () => ({ dimensions: ['period'], granularity: 'daily', metrics: ['delivered'] }),
  'list-sent-email-attachments': by('emailId', deliveredEmail),
  'get-sent-email-attachment': async world => {
    const emailId = await deliveredEmail(world)
    const { data } = await world.resend.emails.attachments.list({ emailId })
    return { emailId, id: data!.data[0]!.id }
  },
  'send-batch-emails': () => ({ emails: [LETTER, LETTER] }),

  'list-logs': none,
  'get-log': by('logId', async ({ resend }) => (await resend.logs.list()).data?.data[0]?.id ?? UNKNOWN_ID),
  'list-oauth-grants': none,
  'revoke-oauth-grant': () => ({ id: UNKNOWN_ID }),

  'create-segment': world => ({ name: world.fresh('Readers') }),
  'list-segments': none,
  'get-segment': by('id', segmentOf),
  'update-segment': by('id', segmentOf, { name: 'Others' }),
  'remove-segment': by('id', segmentOf),
  'add-suppression': world => ({ email: `${world.fresh('no')}@there.example` }),
  'list-suppressions': () => ({ origin: 'manual' }),
  'get-suppression': by('idOrEmail', async world => (await suppressionOf(world)).email),
  'remove-suppression': by('idOrEmail', async world => (await suppressionOf(world)).email),
  'batch-add-suppressions': world => ({ emails: [`${world.fresh('no')}@there.example`] }),
  'batch-remove-suppressions': async world => ({ emails: [(await suppressionOf(world)).email] }),

  'create-template': world => ({
    ...{ name: 'Order', html: '<p>{{{NO}}}</p>', subject: 'Order', from: MAIL.from, text: '{{{NO}}}' },
    ...{ alias: world.fresh('order'), replyTo: 'r@here.example' },
    variables: [{ key: 'NO', type: 'number', fallbackValue: 7 }],
  }),
  'list-templates': none,
  'get-template': by('id', templateOf),
  'update-template': by('id', templateOf, { name: 'Bill' }),
  'remove-template': by('id', templateOf),
  'publish-template': by('id', templateOf),
  'duplicate-template': by('id', templateOf),
  'create-topic': world => ({ name: world.fresh('Digest'), defaultSubscription: 'opt_in' }),
  'list-topics': none,
  'get-topic': by('id', topicOf),
  'update-topic': by('id', topicOf, { description: 'Once a month' }),
  'remove-topic': by('id', topicOf),

  'create-webhook': () => ({ endpoint: 'https://hooks.invalid/', events: ['email.sent'] }),
  'list-webhooks': none,
  'get-webhook': by('webhookId', webhookOf),
  'update-webhook': by('webhookId', webhookOf, { status: 'disabled' }),
  'list-webhook-events': async world => ({ webhookId: (await world.receivedEvent()).webhookId }),
  'get-webhook-event': eventOf,
  'replay-webhook-event': eventOf,
  'rotate-webhook-signing-secret': by('webhookId', webhookOf),
  'list-webhook-event-attempts': eventOf,
  'remove-webhook': by('webhookId', webhookOf),
}
