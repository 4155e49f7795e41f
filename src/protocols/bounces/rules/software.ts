/** Rules for mail software and gateways whose words would mislead the general rules. */
import type { Rule } from './rule.ts'

export const SOFTWARE_RULES: readonly Rule[] = [
  {
    name: 'protocol error',
    class: 'protocol',
    codes: ['500', '502', '503'],
    tryAgain: true,
    sample: 'rcpt 503 5.5.1 MAIL comes first',
  },
  {
    name: 'null MX of the recipient (RFC 7505)',
    class: 'bad-domain',
    codes: ['4', '50', '55'],
    words:
      /(?:null[ -]?mx|mx (?:or srv )?record indicated no smtp|(?:host|domain|name)[^.]{0,12} (?:does ?n.?.?t accept|does not accept|will not accept|accepts no) (?:any )?(?:e-?)?mail(?! (?:from|for|of|by|at|right|now|today|temporar|until)\b)|no (?:e-?)?mail (?:is )?accepted (?:for|by|at) (?:this|the|that) (?:domain|host)|rfc ?7505|only mx (?:record )?is "?\."?|mx (?:record )?is (?:null|empty))(?<!\b(?:sender|mail from|from domain|your|envelope|return-path)\b.{0,100})/,
    sample: 'rcpt 550 5.7.27 Host does not accept mail',
  },
  {
    name: 'postscreen: client address denied',
    class: 'blocked',
    codes: ['521'],
    statuses: ['3.2'],
    sample: 'host 521 5.3.2 Service currently unavailable',
  },
  {
    name: 'TLS required',
    class: 'policy',
    detail: 'tls_required',
    words:
      /\b(?:start|require)?tls\b[^.]{0,30}\b(?:required|needed|mandatory|necessary|first|only)\b|\bencrypt(?:ion|ed (?:connections?|sessions?|channels?|transport))\b[^.]{0,30}\b(?:required|needed|mandatory|necessary|only)\b|\b(?:must|needs? to|have to|please (?:use|enable|start|issue|negotiate)|requires?|insists? on|without|unless you|only (?:accepts?|takes?|over|with|via|through))\b[^.]{0,30}\b(?:(?:start)?tls|encrypt(?:ion|ed (?:connections?|sessions?|channels?|transport)))\b/,
    sample: 'mail 530 5.7.0 Issue STARTTLS first',
  },
  {
    name: 'sender authentication required',
    class: 'policy',
    words:
      /(?:smtp )?authentication (?:is )?required|client was not authenticated|must (?:authenticate|log ?in)|auth(?:entication)? first|relay.{0,30}auth/,
    unless: /relaying denied/,
    sample: 'mail 530 5.7.0 Authentication required',
  },
  {
    name: 'codes 530 to 538: login',
    class: 'policy',
    codes: ['53'],
    sample: 'rcpt 535 5.7.8 User not found',
  },
  {
    name: 'exchange: group takes mail of its own people',
    class: 'policy',
    words: /sendernotauthenticated|resolver\.rst\.notauthorized/,
    sample: 'rcpt 550 5.7.133 RESOLVER.RST.SenderNotAuthenticatedForGroup',
  },
  {
    name: 'exchange: recipient not found by look-up',
    class: 'invalid-recipient',
    words: /recipientnotfound|recipnotfound/,
    namesRecipient: true,
    sample: 'final-dot 550 5.1.10 RESOLVER.ADR.RecipientNotFound; not found by look-up',
  },
  {
    name: 'exchange: recipient thread limit',
    class: 'rate-limited',
    codes: ['4'],
    words: /recipient thread limit|storedrv.{0,60}(?:limit|throttl)/,
    oneRecipient: true,
    sample: 'final-dot 432 4.3.2 STOREDRV.Deliver; recipient thread limit exceeded',
  },
  {
    name: 'exchange: access denied to an unknown recipient',
    class: 'invalid-recipient',
    codes: ['550'],
    statuses: ['4.1'],
    words: /access denied/,
    sample: 'rcpt 550 5.4.1 Recipient address rejected: Access denied',
  },
  {
    name: 'exchange: transport rule',
    class: 'content',
    words: /transport\.rules/,
    sample: 'final-dot 550 5.7.1 TRANSPORT.RULES.RejectMessage; refused by the organization',
  },
  {
    name: 'exchange: back pressure',
    class: 'unknown',
    codes: ['4'],
    statuses: ['3.1'],
    sample: 'mail 452 4.3.1 Insufficient system resources',
  },
  {
    name: 'proofpoint: address blocked',
    class: 'blocked',
    words: /ipcheck\.proofpoint|proofpoint.{0,40}(?:block|reputation)/,
    sample: 'host 554 Blocked - see https://ipcheck.proofpoint.com/?ip=192.0.2.1',
  },
  {
    name: 'mimecast: recipient unknown',
    class: 'invalid-recipient',
    provider: 'mimecast',
    codes: ['550'],
    words: /invalid recipient|known address verification/,
    sample: 'rcpt 550 Invalid Recipient - see the community',
  },
  {
    name: 'cisco: poor reputation',
    class: 'blocked',
    words:
      /senderbase|poor (?:email )?reputation|bulk hosts? rejected|your access to this mail system has been rejected/,
    sample: 'host 554 Your access to this mail system has been rejected due to the sending MTA',
  },
  {
    name: 'trend micro: address listed',
    class: 'blocked',
    words: /mail-abuse|\bers\b.{0,40}(?:list|ip)|trendmicro.{0,60}(?:reputation|ers)/,
    sample: 'host 550 5.7.1 Refused, mail from your address is listed: ERS-QIL IP',
  },
  {
    name: 'postfix: address verification in progress',
    class: 'unknown',
    codes: ['4'],
    words: /restriction: (?:unverified|address verification)/,
    sample: 'rcpt 450 4.1.1 Recipient address rejected: unverified address: address verification in progress',
  },
  {
    name: 'postfix: address could not be probed',
    class: 'no-route',
    words:
      /unverified (?:recipient )?address.{0,100}(?:connect|conversation|timed? ?-?out|lost|refused|unreach|no route|name service|greeting|not found)/,
    sample:
      'rcpt 550 5.1.1 Recipient address rejected: unverified address: connect to mx2: Connection timed out',
  },
  {
    name: 'postfix: address not verified',
    class: 'policy',
    codes: ['5'],
    words: /unverified (?:recipient )?address/,
    sample: 'rcpt 550 5.1.1 Recipient address rejected: unverified address: Address lookup failed',
  },
  {
    name: 'postfix: deferred by policy',
    class: 'greylisted',
    codes: ['450', '451'],
    statuses: ['2.0'],
    words: /try again|later|temporar/,
    sample: 'rcpt 450 4.2.0 Please try again in a while',
  },
  {
    name: 'check temporarily unavailable',
    class: 'unknown',
    codes: ['4'],
    words:
      /(?:user|recipient|(?<!ip )(?<!your )(?<!e-?mail )address(?! temporarily (?:block|black))|callout|ldap|look-?up|verif)[^.]{0,40}(?:temporar(?!ily (?:rate|throttl|limit))|timed? ?out|could not (?:be )?(?:complete|verif)|in progress|failure)/,
    sample: 'rcpt 451 Could not complete recipient verify callout: verification timed out',
  },
  {
    name: 'recipient restricts senders',
    class: 'policy',
    statuses: ['2.1', '7.1', '7.2', '2.0', 'none'],
    words:
      /(?:only accepts|accepts (?:mail|messages) only|members only|not (?:whitelisted|on (?:the|my) (?:allow|white)))/,
    sample: 'rcpt 550 5.2.1 This recipient only accepts mail of members',
  },
]
