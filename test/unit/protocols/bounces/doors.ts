/**
 * Replies of `test/golden/replies`, and the two doors through which a reply comes: from a host that we talk
 * to, and in the report of a host that talked to another one.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { resultOf } from '../../../../src/pipeline/delivery/outcome/attempt-result.ts'
import { readReport } from '../../../../src/protocols/bounces/read-report.ts'
import type { ReplyPhase } from '../../../../src/protocols/bounces/sentence/reading.ts'
import { readLine } from './replies.ts'

/**
 * Meaning of a reply: `hard` for an address without a mailbox. The others are about valid addresses: the
 * mailbox is full, the sender, a host or the message is at fault, a policy refuses, or the fault is
 * temporary.
 */
export type WhatItMeans = 'hard' | 'full' | 'sender' | 'host' | 'content' | 'policy' | 'soft'

export interface Row {
  meaning: WhatItMeans
  phase: ReplyPhase
  /** A reply as in `replies.txt`. */
  line: string
}

export const RECIPIENT = 'bob@there.test'
export const FACTS = {
  recipient: RECIPIENT,
  ours: ['b.1@bounce.acme.example', 'ann@acme.example', 'mail.acme.example'],
}
const COMMANDS: Record<ReplyPhase, string> = {
  host: 'EHLO command',
  mail: 'MAIL FROM command',
  rcpt: 'RCPT TO command',
  data: 'DATA command',
  'final-dot': 'end of DATA command',
}

export function rowsOf(name: string): Row[] {
  const text = readFileSync(join(import.meta.dirname, '../../../golden/replies', name), 'utf8')
  return text.split('\n').flatMap(line => {
    const [, meaning, phase, reply] = /^(\w+) \| ([a-z-]+) \| (.*)$/.exec(line) ?? []
    return reply === undefined
      ? []
      : { meaning: meaning as WhatItMeans, phase: phase as ReplyPhase, line: reply }
  })
}

/** Classification of a reply, received live or read from a report. */
interface Said {
  isHard: boolean
  class: string
}

export function saidLive({ phase, line }: Row): Said {
  const result = { kind: 'refused' as const, phase: phase as 'rcpt', reply: readLine(line), local: false }
  const meant = resultOf(result, 'mx.there.test', () => FACTS)
  return {
    isHard: meant.kind === 'bounced' && meant.blamesAddress === true,
    class: meant.class,
  }
}

/** Reads the reply from a report as Postfix writes it. */
export function saidInReport(row: Row): Said {
  const [recipient] = readReport(Buffer.from(reportOf(row)), {
    correlationHeader: 'X-Mailhorn-Ref',
    providerOf: () => undefined,
  }).recipients
  return { isHard: recipient!.isHard, class: recipient!.class }
}

function reportOf({ phase, line }: Row): string {
  const reply = line.replaceAll('\\n', ' ')
  const { enhanced, code } = readLine(line)
  return `Return-Path: <>
From: MAILER-DAEMON@relay.example (Mail Delivery System)
To: b.1@bounce.acme.example
Subject: Undelivered Mail Returned to Sender
Content-Type: multipart/report; report-type=delivery-status; boundary=b

--b
Content-Type: text/plain; charset=utf-8

This is the mail system at host relay.example.

I'm sorry to have to inform you that your message could not
be delivered to one or more recipients. It's attached below.

<${RECIPIENT}>: host mx.there.test[192.0.2.25] said: ${reply} (in reply to ${COMMANDS[phase]})

--b
Content-Type: message/delivery-status; charset=utf-8

Reporting-MTA: dns; relay.example

Final-Recipient: rfc822; ${RECIPIENT}
Action: ${code < 500 ? 'delayed' : 'failed'}
Status: ${enhanced ?? `${String(code)[0]}.0.0`}
Remote-MTA: dns; mx.there.test
Diagnostic-Code: smtp; ${reply}

--b
Content-Type: text/rfc822-headers

Return-Path: <b.1@bounce.acme.example>
Received: from mail.acme.example (mail.acme.example [192.0.2.1]) by relay.example; Thu, 26 Nov 2026 10:00:00 +0000
From: Ann <ann@acme.example>
To: ${RECIPIENT}
Subject: Hello
--b--
`
}
