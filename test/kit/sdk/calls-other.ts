/** Calls of products that Mailhorn does not have. They get what is required, and must be refused in words. */
import type { AutomationStep } from 'resend'
import { pages, UNKNOWN_ID } from './arguments.ts'
import type { Calls } from './calls.ts'

const IN_INBOX = { inboxId: UNKNOWN_ID }
const IN_THREAD = { ...IN_INBOX, threadId: UNKNOWN_ID }
const OF_THREAD = { ...IN_THREAD, emailId: UNKNOWN_ID }
const STEPS: AutomationStep[] = [{ key: 'start', type: 'trigger', config: { eventName: 'user.created' } }]

type OtherMethod = `${'automations' | 'events' | 'inboxes' | 'oauthGrants'}.${string}` & keyof Calls

export const OTHER_CALLS: Calls<OtherMethod> = {
  'automations.create': () => [[{ name: 'Welcome', steps: STEPS, connections: [] }]],
  'automations.list': () => [[]],
  'automations.get': () => [[UNKNOWN_ID]],
  'automations.update': () => [[UNKNOWN_ID, { name: 'Welcome' }]],
  'automations.remove': () => [[UNKNOWN_ID]],
  'automations.duplicate': () => [[UNKNOWN_ID]],
  'automations.stop': () => [[UNKNOWN_ID]],
  'automations.runs.list': () => [[{ automationId: UNKNOWN_ID }]],
  'automations.runs.get': () => [[{ automationId: UNKNOWN_ID, runId: UNKNOWN_ID }]],

  'events.create': () => [[{ name: 'user.created' }]],
  'events.list': () => pages(UNKNOWN_ID),
  'events.get': () => [['user.created']],
  'events.update': () => [['user.created', { schema: { plan: 'string' } }]],
  'events.remove': () => [['user.created']],
  'events.send': () => [[{ event: 'user.created', email: 'ann@there.example' }]],

  'oauthGrants.list': () => [[]],
  'oauthGrants.revoke': () => [[UNKNOWN_ID]],

  'inboxes.create': () => [[{ emailAddress: 'support@here.example' }]],
  'inboxes.list': () => [[]],
  'inboxes.get': () => [[UNKNOWN_ID]],
  'inboxes.update': () => [[UNKNOWN_ID, { name: 'Support' }]],
  'inboxes.remove': () => [[UNKNOWN_ID]],
  'inboxes.agent.get': () => [[IN_INBOX]],
  'inboxes.agent.update': () => [[{ ...IN_INBOX, instructions: 'Be kind.' }]],
  'inboxes.drafts.create': () => [[{ ...IN_INBOX, subject: 'hi' }]],
  'inboxes.drafts.list': () => [[IN_INBOX]],
  'inboxes.drafts.get': () => [[{ ...IN_INBOX, draftId: UNKNOWN_ID }]],
  'inboxes.drafts.update': () => [[{ ...IN_INBOX, draftId: UNKNOWN_ID, subject: 'hi' }]],
  'inboxes.drafts.remove': () => [[{ ...IN_INBOX, draftId: UNKNOWN_ID }]],
  'inboxes.drafts.send': () => [[{ ...IN_INBOX, draftId: UNKNOWN_ID }]],
  'inboxes.labels.create': () => [[{ ...IN_INBOX, name: 'Urgent' }]],
  'inboxes.labels.list': () => [[IN_INBOX]],
  'inboxes.labels.update': () => [[{ ...IN_INBOX, labelId: UNKNOWN_ID, name: 'Later' }]],
  'inboxes.labels.remove': () => [[{ ...IN_INBOX, labelId: UNKNOWN_ID }]],
  'inboxes.threads.list': () => [[IN_INBOX]],
  'inboxes.threads.search': () => [[{ ...IN_INBOX, query: 'order' }]],
  'inboxes.threads.get': () => [[IN_THREAD]],
  'inboxes.threads.update': () => [[{ ...IN_THREAD, read: true }]],
  'inboxes.threads.remove': () => [[IN_THREAD]],
  'inboxes.threads.emails.list': () => [[IN_THREAD]],
  'inboxes.threads.emails.get': () => [[OF_THREAD]],
  'inboxes.threads.emails.reply': () => [[{ ...OF_THREAD, text: 'hello' }]],
  'inboxes.threads.emails.forward': () => [[{ ...OF_THREAD, to: 'delivered@simulator.test' }]],
  'inboxes.threads.labels.add': () => [[{ ...IN_THREAD, labels: [UNKNOWN_ID] }]],
  'inboxes.threads.labels.set': () => [[{ ...IN_THREAD, labels: [UNKNOWN_ID] }]],
  'inboxes.threads.labels.remove': () => [[{ ...IN_THREAD, labelId: UNKNOWN_ID }]],
}
