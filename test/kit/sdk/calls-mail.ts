/** Calls that send, read and prepare mail. */

import { pages, UNKNOWN_ID } from './arguments.ts'
import type { Calls } from './calls.ts'
import {
  audienceOf,
  BROADCAST,
  deliveredEmail,
  draftOf,
  MAIL,
  receivedEmail,
  scheduledEmail,
  sentBroadcast,
  templateOf,
  topicOf,
} from './fixtures.ts'

/** Every field of an email that has no condition. */
const FULL = {
  from: 'Ann <ann@here.example>',
  to: ['delivered@simulator.test'],
  cc: ['delivered+cc@simulator.test'],
  bcc: ['delivered+bcc@simulator.test'],
  replyTo: ['r@here.example'],
  subject: 'hi',
  html: '<p>hello</p>',
  text: 'hello',
  headers: { 'X-Entity-Ref-ID': '1' },
  tags: [{ name: 'kind', value: 'test' }],
}
const FILE = { filename: 'a.png', content: 'aGVsbG8=', contentType: 'image/png', contentId: 'a' }

type MailMethod = `${'emails' | 'batch' | 'templates' | 'broadcasts'}.${string}` & keyof Calls

const send: Calls['emails.send'] = async world => [
  [MAIL],
  [{ ...FULL, topicId: await topicOf(world) }, { idempotencyKey: world.fresh('key') }],
  [{ ...FULL, attachments: [FILE] }],
  [{ ...MAIL, scheduledAt: world.inHours(1) }],
  [{ from: MAIL.from, to: MAIL.to, template: { id: await templateOf(world), variables: { NO: 1 } } }],
  [{ ...MAIL, attachments: [{ filename: 'a.txt', path: 'https://files.example/a.txt' }] }],
]
const sendBatch: Calls['batch.send'] = async world => [
  [[MAIL, MAIL], { batchValidation: 'permissive' }],
  [[{ ...FULL, topicId: await topicOf(world), scheduledAt: world.inHours(1) }, MAIL]],
  [[{ from: MAIL.from, to: MAIL.to, template: { id: await templateOf(world), variables: { NO: 1 } } }]],
]

export const MAIL_CALLS: Calls<MailMethod> = {
  'emails.send': send,
  'emails.create': send,
  'emails.get': async world => [[await deliveredEmail(world)], [await scheduledEmail(world)]],
  'emails.list': async world => pages(await deliveredEmail(world)),
  'emails.update': async world => [[{ id: await scheduledEmail(world), scheduledAt: world.inHours(2) }]],
  'emails.cancel': async world => [[await scheduledEmail(world)]],
  'emails.share': async world => [
    [await deliveredEmail(world)],
    [await deliveredEmail(world), { expiresIn: '1h' }],
  ],
  'emails.metrics': async world => {
    const id = await deliveredEmail(world)
    const { id: domain } = await world.make('/domains', { name: `${world.fresh('metrics')}.example` })
    const metrics = ['delivered', 'open_rate'] as const
    return [
      [],
      [
        {
          ...{ startDate: world.inHours(-24), endDate: world.inHours(0), timezone: 'Europe/Berlin' },
          ...{ granularity: 'hourly', metrics: [...metrics], domainId: [domain] },
          dimensions: ['period', 'domain'],
        },
      ],
      [{ dimensions: ['email'], emailId: [id] }],
      [{ dimensions: ['broadcast'], broadcastId: [await sentBroadcast(world)] }],
    ]
  },
  'emails.attachments.list': async world => {
    const emailId = await deliveredEmail(world)
    const { data } = await world.resend.emails.attachments.list({ emailId })
    return pages(data!.data[0]!.id).map(([page]) => [{ ...page, emailId }])
  },
  'emails.attachments.get': async world => {
    const emailId = await deliveredEmail(world)
    const { data } = await world.resend.emails.attachments.list({ emailId })
    return [[{ emailId, id: data!.data[0]!.id }]]
  },
  'emails.receiving.list': async world => pages((await receivedEmail(world)).id),
  'emails.receiving.get': async world => {
    const { id } = await receivedEmail(world)
    return [[id], [id, { html_format: 'cid' }], [id, { html_format: 'data_uri' }]]
  },
  'emails.receiving.forward': async world => {
    const { id: emailId } = await receivedEmail(world)
    const to = ['delivered@simulator.test']
    const wrapped = {
      emailId,
      from: MAIL.from,
      to,
      passthrough: false,
      text: 'see',
      html: '<p>see</p>',
    } as const
    return [[{ emailId, from: MAIL.from, to }], [wrapped]]
  },
  'emails.receiving.attachments.list': async world => {
    const { id: emailId, attachmentId } = await receivedEmail(world)
    return pages(attachmentId).map(([page]) => [{ ...page, emailId }])
  },
  'emails.receiving.attachments.get': async world => {
    const { id: emailId, attachmentId: id } = await receivedEmail(world)
    return [[{ emailId, id }]]
  },
  'batch.send': sendBatch,
  'batch.create': sendBatch,

  'templates.create': ({ fresh }) => [
    [{ name: 'Order', html: '<p>{{{NO}}}</p>' }],
    [{ name: 'Order', html: '<p>hi</p>', subject: 'Order', text: 'hi' }],
    [{ name: 'Order', html: '<p>hi</p>', alias: fresh('order') }],
    [{ name: 'Order', html: '<p>hi</p>', from: MAIL.from }],
    [{ name: 'Order', html: '<p>hi</p>', replyTo: ['r@here.example'] }],
    [
      {
        ...{ name: 'Order', html: '<p>{{{NO}}} {{{WHO}}}</p>' },
        variables: [
          { key: 'NO', type: 'number', fallbackValue: 7 },
          { key: 'WHO', type: 'string', fallbackValue: 'you' },
        ],
      },
    ],
  ],
  'templates.get': async world => [[await templateOf(world)]],
  'templates.list': async world => pages(await templateOf(world)),
  'templates.update': async world => [
    [await templateOf(world), { name: 'Bill' }],
    [
      await templateOf(world),
      {
        ...{ subject: 'Bill', html: '<p>{{{NO}}}</p>', text: '{{{NO}}}', from: MAIL.from },
        ...{ alias: world.fresh('bill'), replyTo: ['r@here.example'] },
        variables: [{ key: 'NO', type: 'number', fallbackValue: 7 }],
      },
    ],
  ],
  'templates.publish': async world => [[await templateOf(world)]],
  'templates.duplicate': async world => [[await templateOf(world)]],
  'templates.remove': async world => [[await templateOf(world)]],

  'broadcasts.create': async world => [
    [{ ...BROADCAST, segmentId: await audienceOf(world) }],
    [{ ...BROADCAST, audienceId: await audienceOf(world) }],
    [
      {
        ...{ ...BROADCAST, segmentId: await audienceOf(world, 'delivered'), topicId: await topicOf(world) },
        ...{
          name: 'May',
          previewText: 'News',
          text: 'News {{unsubscribe_url}}',
          replyTo: ['r@here.example'],
        },
        ...{ send: true, scheduledAt: world.inHours(1) },
      },
    ],
  ],
  'broadcasts.get': async world => [[await draftOf(world)], [await sentBroadcast(world)]],
  'broadcasts.list': async world => pages(await draftOf(world)),
  'broadcasts.update': async world => [
    [await draftOf(world), { name: 'June' }],
    [
      await draftOf(world),
      {
        ...{ ...BROADCAST, name: 'June', segmentId: await audienceOf(world), topicId: await topicOf(world) },
        ...{ text: 'News {{unsubscribe_url}}', replyTo: ['r@here.example'], previewText: 'News' },
      },
    ],
    [await draftOf(world), { audienceId: await audienceOf(world) }],
  ],
  'broadcasts.send': async world => [
    [await draftOf(world)],
    [await draftOf(world), { scheduledAt: world.inHours(1) }],
  ],
  'broadcasts.cancel': async world => [
    [await draftOf(world, { send: true, scheduled_at: world.inHours(1) })],
  ],
  'broadcasts.duplicate': async world => [[await draftOf(world)]],
  'broadcasts.remove': async world => [[await draftOf(world)]],
  'broadcasts.recipients': async world => {
    const id = await sentBroadcast(world)
    const { data } = await world.resend.broadcasts.recipients(id, { type: 'delivered' })
    const cursor = data?.data[0]?.id ?? UNKNOWN_ID
    return [
      ...pages(cursor).map(([page]) => [id, { ...page, type: 'delivered' as const }]),
      ...(['sent', 'opened', 'clicked', 'complained', 'suppressed'] as const).map(type => [id, { type }]),
      [id, { type: 'delivered', email: 'clicked@simulator.test' }],
      [id, { type: 'bounced', bounceType: 'permanent' }],
      [id, { type: 'unsubscribed' }],
    ] as ReturnType<Calls['broadcasts.recipients']>
  },
  'broadcasts.clickedLinks': async world => {
    const id = await sentBroadcast(world)
    const { data } = await world.resend.broadcasts.clickedLinks(id)
    return pages(data!.data[0]!.id).map(([page]) => [id, page])
  },
}
