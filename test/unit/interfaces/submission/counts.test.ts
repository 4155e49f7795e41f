import * as assert from 'uvu/assert'
import { createIncoming } from '../../../../src/interfaces/submission/incoming.ts'
import { startSubmissionListener } from '../../../../src/interfaces/submission/listener.ts'
import { createLog } from '../../../../src/lib/log.ts'
import { createMetrics } from '../../../../src/lib/metrics.ts'
import { countMail } from '../../../../src/pipeline/inbound/mail-counts.ts'
import { createManualClock } from '../../../kit/manual-clock.ts'
import { dialSmtp } from '../../../kit/smtp-client.ts'
import { suite } from '../../../kit/suite.ts'
import { testCertificate } from '../../../kit/tls.ts'

const test = suite('submission/listener, counts')

test('every negative reply is counted with the enhanced status code that the client got', async t => {
  const metrics = createMetrics()
  const clock = createManualClock()
  const listener = await t.using(
    startSubmissionListener({
      listen: { host: '127.0.0.1', port: 0 },
      isTls: false,
      mailHost: 'mailhorn.test',
      certificates: { current: () => testCertificate('good'), onChange: () => () => {}, close() {} },
      admission: { signIn: async () => 'wrong' },
      spend: () => true,
      submit: async () => '2.0.0 Ok',
      incoming: createIncoming(1_000),
      counts: countMail(metrics, 'submission'),
      clock,
      log: createLog('silent'),
    }),
  )
  const client = await t.using(dialSmtp({ port: listener.address().port }))
  await client.reply()
  await client.say('EHLO program.example')
  const told: string[] = []
  for (const command of [
    'MAIL FROM:<a@here.example>',
    'AUTH PLAIN AGEAYg==',
    'XYZZY',
    'DATA',
    'RCPT TO:<b@c.example>',
  ])
    told.push(await client.say(command))
  while (!told.at(-1)!.startsWith('421')) told.push(await client.say('XYZZY').then(text => text))
  const replies = told.map(text => /^([45]\d\d) ([45]\.\d+\.\d+) /.exec(text)!.slice(1).join(' '))
  const counted = [
    ...metrics.text().matchAll(/_total\{listener="submission",code="(\d+)",status="([\d.]*)"\} (\d+)/g),
  ]
  const sums = Object.fromEntries(
    counted.map(([, code, status, count]) => [`${code} ${status}`, Number(count)]),
  )
  const expected = Object.fromEntries(
    [...Map.groupBy(replies, reply => reply)].map(([reply, same]) => [reply, same.length]),
  )
  assert.equal(sums, expected)
  assert.ok(expected['530 5.7.0']! >= 1)
})

test.run()
