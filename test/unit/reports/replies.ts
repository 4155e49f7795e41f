/**
 * Negative replies as the world's mail servers give them (in our own words), and what each means. `blames` tells
 * whether further mail to the address is in vain, so that it is suppressed: never for what may be true of one
 * message, one sender or one day alone.
 */
import type { BounceClass, ReplyPhase } from '../../../src/reports/classify.ts'

export interface KnownReply {
  phase: ReplyPhase
  /** As it comes over the wire, in one line. */
  reply: string
  action: 'bounce' | 'defer'
  class: BounceClass
  blames: boolean
}

type Row = [phase: ReplyPhase, reply: string, verdict: string]

/** Verdicts: action, class, and `!` where the address is blamed. */
const ROWS: Record<string, Row[]> = {
  'Gmail and Google Workspace': [
    [
      'rcpt',
      '550 5.1.1 The account you tried to reach does not exist. Look for typing errors. NoSuchUser',
      'bounce invalid-recipient !',
    ],
    [
      'rcpt',
      '550 5.2.1 The account you tried to reach is disabled. DisabledUser',
      'bounce inactive-mailbox !',
    ],
    [
      'rcpt',
      '550 5.2.1 The account you tried to reach is inactive. For more, see the help page',
      'bounce inactive-mailbox !',
    ],
    ['rcpt', '552 5.2.2 The account you tried to reach is over quota and inactive', 'bounce mailbox-full'],
    [
      'rcpt',
      '452 4.2.2 The account you tried to reach is over quota. Please tell the recipient. OverQuotaTemp',
      'defer mailbox-full',
    ],
    [
      'rcpt',
      '450 4.2.1 The user you try to contact gets mail too quickly. Please resend later. ReceivingRate',
      'defer rate-limited',
    ],
    [
      'rcpt',
      '550 5.2.1 The user you try to contact gets mail at a rate that prevents additional messages',
      'bounce rate-limited',
    ],
    [
      'final-dot',
      '421 4.7.0 Our system has seen an unusual rate of unsolicited mail from your IP address. Mail is temporarily rate limited',
      'defer rate-limited',
    ],
    [
      'final-dot',
      '421 4.7.28 Our system has seen an unusual rate of mail from your domain, so it is rate limited',
      'defer rate-limited',
    ],
    [
      'final-dot',
      '550 5.7.26 This mail has been blocked because the sender is unauthenticated. SPF did not pass, DKIM did not pass',
      'bounce authentication',
    ],
    [
      'final-dot',
      '550 5.7.1 Our system thinks that this message is likely unsolicited mail, so it has been blocked',
      'bounce spam',
    ],
    [
      'final-dot',
      '552 5.7.0 This message was blocked because its content presents a potential security issue. See our attachment guidelines',
      'bounce attachment',
    ],
    ['final-dot', '552 5.3.4 Your message exceeded our message size limits', 'bounce message-too-large'],
    ['host', '550 5.7.25 The IP address sending this message has no PTR record', 'defer blocked'],
    ['final-dot', '550 5.7.25 The IP address sending this message has no PTR record', 'bounce blocked'],
    [
      'rcpt',
      '550 5.7.1 The user or domain that you send to is not allowed to receive mail. RestrictedRecipient',
      'bounce policy',
    ],
    ['rcpt', '451 4.3.0 Mail server temporarily rejected message', 'defer policy'],
  ],
  'Outlook.com and Microsoft 365': [
    [
      'rcpt',
      '550 5.5.0 Requested action not taken: mailbox unavailable (S2017062302)',
      'bounce invalid-recipient !',
    ],
    [
      'rcpt',
      '550 5.4.1 Recipient address rejected: Access denied. AS(201806281)',
      'bounce invalid-recipient !',
    ],
    [
      'final-dot',
      '550 5.1.10 RESOLVER.ADR.RecipientNotFound; Recipient x@there.test not found by SMTP address lookup',
      'bounce invalid-recipient !',
    ],
    [
      'mail',
      '550 5.7.1 Messages from [192.0.2.1] were not sent, since part of their network is on our block list (S3140)',
      'bounce blocked',
    ],
    ['mail', '550 5.7.606 Access denied, banned sending IP [192.0.2.1]', 'bounce blocked'],
    ['rcpt', '550 5.7.511 Access denied, banned sender[192.0.2.1]', 'bounce blocked'],
    [
      'host',
      '451 4.7.650 The mail server [192.0.2.1] has been temporarily rate limited due to IP reputation',
      'defer rate-limited',
    ],
    ['rcpt', '451 4.7.500 Server busy. Please try again later from [192.0.2.1]. AS(7)', 'defer rate-limited'],
    [
      'final-dot',
      '432 4.3.2 Concurrent connections limit exceeded; STOREDRV.ClientSubmit',
      'defer rate-limited',
    ],
    [
      'final-dot',
      '550 5.7.515 Access denied, sending domain here.test does not meet the required authentication level',
      'bounce authentication',
    ],
    [
      'final-dot',
      '550 5.7.509 Access denied, sending domain here.test does not pass DMARC verification and has a policy of reject',
      'bounce authentication',
    ],
    [
      'final-dot',
      '550 5.7.1 TRANSPORT.RULES.RejectMessage; the message was rejected by organization policy',
      'bounce content',
    ],
    [
      'rcpt',
      '550 5.7.133 RESOLVER.RST.SenderNotAuthenticatedForGroup; authentication required; the sender was not authenticated when sending to this group',
      'bounce policy',
    ],
    [
      'final-dot',
      '554 5.2.2 mailbox full; STOREDRV.Deliver.Exception:QuotaExceededException',
      'bounce mailbox-full',
    ],
    ['final-dot', '554 5.4.14 Hop count exceeded - possible mail loop ATTR34', 'bounce no-route'],
    ['rcpt', '550 5.7.1 Unable to relay', 'bounce policy'],
  ],
  'Yahoo and AOL': [
    [
      'final-dot',
      "554 5.0.0 delivery error: dd This user doesn't have a there.test account (x@there.test) [0]",
      'bounce invalid-recipient !',
    ],
    ['final-dot', '554 delivery error: dd Not a valid recipient - [-9]', 'bounce invalid-recipient !'],
    [
      'final-dot',
      '554 delivery error: dd Your message cannot be delivered. This mailbox is disabled (554.30)',
      'bounce inactive-mailbox !',
    ],
    [
      'host',
      '553 5.7.1 [BL21] Connections will not be accepted from 192.0.2.1, because the ip is in Spamhaus',
      'defer blocked',
    ],
    [
      'mail',
      '421 4.7.0 [TSS04] Messages from 192.0.2.1 temporarily deferred due to unexpected volume or user complaints',
      'defer rate-limited',
    ],
    ['final-dot', '554 5.7.9 Message not accepted for policy reasons', 'bounce authentication'],
    ['final-dot', '554 5.7.5 permanent error evaluating DMARC policy', 'bounce authentication'],
  ],
  'Other large providers': [
    ['rcpt', '552 5.2.2 user is over quota', 'bounce mailbox-full'],
    ['rcpt', '554 5.7.1 [CS01] Message rejected due to local policy', 'bounce policy'],
    ['rcpt', '550 5.7.1 Mail from 192.0.2.1 was refused due to listing in Spamhaus PBL', 'bounce blocked'],
    [
      'rcpt',
      '550 Message was not accepted -- invalid mailbox. Local mailbox x@there.test is unavailable: user not found',
      'bounce invalid-recipient !',
    ],
    ['final-dot', '550 spam message rejected. If this was no spam, tell us', 'bounce spam'],
    ['final-dot', '550 Mail content denied', 'bounce content'],
    ['rcpt', '550 Domain frequency limited', 'bounce rate-limited'],
    ['host', '421 too many connections from your host', 'defer rate-limited'],
    ['rcpt', '550 Requested action not taken: mailbox unavailable', 'bounce invalid-recipient !'],
    ['rcpt', '450 Requested mail action not taken: mailbox unavailable', 'defer invalid-recipient'],
    ['rcpt', '550 5.1.0 Address rejected', 'bounce invalid-recipient !'],
  ],
  Postfix: [
    [
      'rcpt',
      '550 5.1.1 <x@there.test>: Recipient address rejected: User unknown in virtual mailbox table',
      'bounce invalid-recipient !',
    ],
    [
      'rcpt',
      '550 5.1.1 <x@there.test>: Recipient address rejected: User unknown in local recipient table',
      'bounce invalid-recipient !',
    ],
    [
      'rcpt',
      '550 5.1.1 <x@there.test>: Recipient address rejected: undeliverable address: host said: 550 user unknown',
      'bounce invalid-recipient !',
    ],
    ['rcpt', '554 5.7.1 <x@there.test>: Recipient address rejected: Access denied', 'bounce policy'],
    ['rcpt', '554 5.7.1 <x@there.test>: Relay access denied', 'bounce policy'],
    ['rcpt', '454 4.7.1 <x@there.test>: Relay access denied', 'defer policy'],
    [
      'rcpt',
      '450 4.2.0 <x@there.test>: Recipient address rejected: Greylisted, see the web page',
      'defer greylisted',
    ],
    ['rcpt', '450 4.1.8 <a@here.test>: Sender address rejected: Domain not found', 'defer sender'],
    ['rcpt', '550 5.1.8 <a@here.test>: Sender address rejected: Domain not found', 'bounce sender'],
    ['rcpt', '553 5.7.1 <a@here.test>: Sender address rejected: not owned by user', 'bounce sender'],
    ['rcpt', '550 <a@here.test>: Sender address rejected: undeliverable address', 'bounce sender'],
    ['rcpt', '504 5.5.2 <here>: Helo command rejected: need fully-qualified hostname', 'bounce policy'],
    ['rcpt', '450 4.7.25 Client host rejected: cannot find your hostname, [192.0.2.1]', 'defer blocked'],
    [
      'rcpt',
      '554 5.7.1 Service unavailable; Client host [192.0.2.1] blocked using zen.there.test',
      'bounce blocked',
    ],
    [
      'rcpt',
      '550 5.7.23 <x@there.test>: Recipient address rejected: Message rejected due to: SPF fail - not authorized',
      'bounce authentication',
    ],
    ['final-dot', '552 5.3.4 Message size exceeds fixed limit', 'bounce message-too-large'],
    ['final-dot', '554 5.7.1 Blocked by a header rule', 'bounce content'],
    ['rcpt', '452 4.3.1 Insufficient system storage', 'defer unknown'],
    ['rcpt', '452 4.5.3 Error: too many recipients', 'defer unknown'],
    ['host', '421 4.7.0 there.test Error: too many connections from 192.0.2.1', 'defer rate-limited'],
    ['rcpt', '451 4.3.5 Server configuration error', 'defer unknown'],
    ['mail', '530 5.7.0 Must issue a STARTTLS command first', 'bounce policy'],
    ['rcpt', '554 5.4.6 Routing loop detected', 'bounce no-route'],
  ],
  Exim: [
    ['rcpt', '550 Unrouteable address', 'bounce invalid-recipient !'],
    ['rcpt', '550 Unknown user', 'bounce invalid-recipient !'],
    ['rcpt', '550 No Such User Here', 'bounce invalid-recipient !'],
    ['rcpt', '550 No such person at this address', 'bounce invalid-recipient !'],
    ['rcpt', '550 Administrative prohibition', 'bounce policy'],
    ['rcpt', '550 Sender verify failed', 'bounce sender'],
    [
      'rcpt',
      '550 Verification failed for <a@here.test> The mail server does not recognize a@here.test as a valid sender. Sender verify failed',
      'bounce sender',
    ],
    ['rcpt', '451 Temporary local problem - please try later', 'defer unknown'],
    ['rcpt', '550 relay not permitted', 'bounce policy'],
    ['final-dot', '550 This message scored 14.2 spam points', 'bounce spam'],
    ['final-dot', '550 This message contains a virus (Eicar-Test-Signature)', 'bounce content'],
    [
      'final-dot',
      '550 This message contains an attachment with a file type we do not accept',
      'bounce attachment',
    ],
    ['rcpt', '550 Rejected because 192.0.2.1 is in a black list at bl.there.test', 'bounce blocked'],
    ['rcpt', '451 Greylisting in action, please come back later', 'defer greylisted'],
  ],
  qmail: [
    ['rcpt', '550 sorry, no mailbox here by that name (#5.1.1 - chkuser)', 'bounce invalid-recipient !'],
    ['rcpt', '511 sorry, no mailbox here by that name', 'bounce invalid-recipient !'],
    ['rcpt', "553 sorry, that domain isn't in my list of allowed rcpthosts (#5.7.1)", 'bounce policy'],
    [
      'final-dot',
      '552 sorry, that message size exceeds my databytes limit (#5.3.4)',
      'bounce message-too-large',
    ],
    ['rcpt', '553 sorry, your envelope sender is in my badmailfrom list (#5.7.1)', 'bounce sender'],
    ['rcpt', '452 sorry, the mailbox is over quota (#4.2.2)', 'defer mailbox-full'],
    ['rcpt', '552 Requested mail action aborted: exceeded storage allocation', 'bounce mailbox-full'],
  ],
  'Exchange, Domino, gateways': [
    ['rcpt', '550 5.1.1 User unknown', 'bounce invalid-recipient !'],
    [
      'rcpt',
      '550 x@there.test... User not listed in public Name & Address Book',
      'bounce invalid-recipient !',
    ],
    ['rcpt', '550 5.1.1 unknown or illegal alias: x@there.test', 'bounce invalid-recipient !'],
    ['rcpt', '550 unknown or illegal alias: x@there.test', 'bounce invalid-recipient !'],
    ['rcpt', '550 Invalid Recipient - see the help page', 'bounce invalid-recipient !'],
    ['rcpt', '550 x@there.test is not a valid mailbox', 'bounce invalid-recipient !'],
    ['rcpt', '550 5.1.1 recipient mailbox is full', 'bounce mailbox-full'],
    ['rcpt', '550 5.1.6 recipient has moved', 'bounce inactive-mailbox !'],
    ['rcpt', '550 The account has been suspended for the time being', 'bounce inactive-mailbox !'],
    ['rcpt', '501 5.1.3 Bad recipient address syntax', 'bounce invalid-recipient !'],
    ['rcpt', '550 5.1.2 The domain there.test is not one of ours', 'bounce bad-domain !'],
    ['rcpt', '556 5.1.10 Recipient address has null MX', 'bounce bad-domain !'],
    [
      'rcpt',
      '550 5.7.1 <x@there.test>: Recipient address rejected: this mailbox takes mail of members only',
      'bounce policy',
    ],
    ['final-dot', '554 5.6.0 Message has an invalid header', 'bounce content'],
    ['final-dot', '554 Transaction failed', 'bounce content'],
    ['rcpt', '550 Too many invalid recipients', 'bounce rate-limited'],
    ['rcpt', '554 5.7.1 The sender has a bad reputation', 'bounce blocked'],
    ['final-dot', '451 4.7.1 Please try again later', 'defer unknown'],
    ['data', '554 5.5.1 Error: no valid recipients', 'bounce content'],
  ],
  'words that stand in addresses': [
    [
      'rcpt',
      '550 5.1.1 <spam@there.test>: Recipient address rejected: User unknown',
      'bounce invalid-recipient !',
    ],
    ['rcpt', '550 5.1.1 blacklist.quota@there.test: user unknown', 'bounce invalid-recipient !'],
    ['rcpt', '550 <unknown.user@there.test>: message refused', 'bounce policy'],
    ['rcpt', '554 5.7.1 <no.such.mailbox@there.test>: Relay access denied', 'bounce policy'],
    ['final-dot', '554 <disabled.account@there.test>: Transaction failed', 'bounce content'],
  ],
  'before MAIL': [
    ['host', '554 5.7.1 Your host is blocked using our own list', 'defer blocked'],
    ['host', '554 No SMTP service here', 'bounce policy'],
    ['host', '521 there.test does not accept mail', 'bounce no-route'],
    ['host', '556 this domain does not accept mail', 'bounce no-route'],
    ['host', '550 5.7.1 Too many connections from your network', 'defer rate-limited'],
    ['host', '554 5.1.1 nobody here', 'bounce policy'],
    ['host', '421 4.3.2 Service shutting down', 'defer unknown'],
  ],
  'about the sender': [
    ['mail', '550 5.1.1 no such user', 'bounce sender'],
    ['mail', '553 5.1.7 Invalid address', 'bounce sender'],
    ['mail', '550 Mailbox not found', 'bounce sender'],
    [
      'mail',
      '552 5.3.4 message of 99 bytes is larger than the 10 bytes this server announces',
      'bounce message-too-large',
    ],
    ['mail', '553 5.6.7 this server does not take internationalized addresses', 'bounce unknown'],
    ['mail', '451 4.1.8 Domain of sender address does not resolve', 'defer sender'],
  ],
  'our misunderstandings': [
    ['rcpt', '503 5.5.1 need MAIL first', 'defer protocol'],
    ['mail', '500 5.5.2 command not recognized', 'defer protocol'],
    ['data', '502 5.5.1 command not implemented', 'defer protocol'],
  ],
}

export const KNOWN_REPLIES: readonly (KnownReply & { from: string })[] = Object.entries(ROWS).flatMap(
  ([from, rows]) =>
    rows.map(([phase, reply, verdict]) => {
      const [action, bounceClass, blames] = verdict.split(' ')
      return {
        from,
        phase,
        reply,
        action: action as 'bounce' | 'defer',
        class: bounceClass as BounceClass,
        blames: blames === '!',
      }
    }),
)
