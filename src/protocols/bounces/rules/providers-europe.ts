/** Rules for what European and Russian providers say in their own way. */
import type { Rule } from './rule.ts'

/** Excludes marks behind words about the recipient: providers append marks to each of their replies. */
const NOT_ABOUT_RECIPIENT =
  '(?<!(?:invalide?|unknown|inconnue?|n.existe|does not exist|not found|pleine|full|over ?quota|desactivee?|disabled|mailbox unavailable)\\b.{0,100})'
const LPN_CODE = new RegExp(`\\blpn(?:00\\d|aaa)_\\d{3}\\b${NOT_ABOUT_RECIPIENT}`)

export const EUROPEAN_RULES: readonly Rule[] = [
  {
    name: 'gmx, web.de: domain of the sender has no good MX',
    class: 'sender',
    words: /invalid dns mx/,
    sample: 'rcpt 550 Action not taken: mailbox unavailable, invalid DNS MX or A/AAAA resource record',
  },
  {
    name: 'gmx, web.de: mailbox unavailable',
    class: 'invalid-recipient',
    provider: 'gmx',
    codes: ['550'],
    phases: ['rcpt'],
    words: /mailbox unavailable(?!.{0,40}(?:resource record|sender))/,
    sample: 'rcpt 550 Action not taken: mailbox unavailable',
  },
  {
    name: 'gmx, web.de: bad reputation of the address',
    class: 'blocked',
    provider: 'gmx',
    codes: ['5'],
    words: new RegExp(
      `nemesis.{0,80}(?:bad dns|reputation|black|listed)|for explanation visit${NOT_ABOUT_RECIPIENT} .{0,80}ip=`,
    ),
    sample: 'host 554 (mx-gmx108) Nemesis ESMTP Service not available, bad DNS PTR record',
  },
  {
    name: 'gmx, web.de: connection refused temporarily',
    class: 'rate-limited',
    provider: 'gmx',
    codes: ['4'],
    phases: ['host', 'mail'],
    words: /nemesis|connection (?:refused|limit)|service not available/,
    sample: 'host 421 (mx-webde001) Nemesis ESMTP Service not available',
  },
  {
    name: 't-online: host not registered',
    class: 'blocked',
    provider: 'telekom',
    phases: ['host', 'mail'],
    codes: ['5'],
    sample: 'host 554 IP=192.0.2.1 - Dialup/transient IP not allowed. Ask the postmaster',
  },
  {
    name: 'orange: rate limit',
    class: 'rate-limited',
    words: /\bofr_?(?:1(?:0[0-9])|10[0-9])\b|\bofr004_(?:101|102|104)\b/,
    codes: ['4'],
    sample: 'host 421 mwinf5c01 ME Trop de connexions, veuillez verifier votre configuration. OFR004_104',
  },
  {
    name: 'orange: refused by filter',
    class: 'blocked',
    words: new RegExp(`\\bofr_?(?:(?:\\d{3}_)?(?:50\\d|999)|00[56]_\\d{3})\\b${NOT_ABOUT_RECIPIENT}`),
    sample: 'final-dot 550 5.2.0 Mail rejete. OFR_506',
  },
  {
    name: 'free: address limited',
    class: 'rate-limited',
    provider: 'free',
    codes: ['4'],
    words: /too many|greylist|spam.{0,20}detect|ralentir|debit/,
    sample: 'rcpt 451 Too much spam detected from your IP',
  },
  {
    name: 'laposte, sfr: code of a block',
    class: 'blocked',
    words: LPN_CODE,
    codes: ['5'],
    sample: 'host 554 5.7.1 Service refuse. LPN007_510',
  },
  {
    name: 'laposte, sfr: code of a limit',
    class: 'rate-limited',
    words: LPN_CODE,
    sample: 'host 421 4.7.0 Service refuse pour le moment. LPN007_405',
  },
  {
    name: 'mail.ru: no such user or locked',
    class: 'invalid-recipient',
    provider: 'mailru',
    codes: ['550'],
    words: /message was not accepted -- invalid mailbox|non-local recipient/,
    namesRecipient: true,
    sample: 'rcpt 550 Message was not accepted -- invalid mailbox',
  },
  {
    name: 'yandex: rate limit',
    class: 'rate-limited',
    provider: 'yandex',
    codes: ['4'],
    words: /limit|service is currently unavailable/,
    sample: 'mail 451 4.7.1 Sorry, the service is currently unavailable. Please try again later',
  },
]
