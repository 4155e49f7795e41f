/**
 * Rules for transport errors that a relaying mail server reports, without a reply of the recipient's host.
 * They follow the rules that excuse the address and precede all that blame it.
 */
import type { Rule } from './rule.ts'

/** Matches texts about the name of the sender or of the sending host. */
const OURS = /sender|mail from|helo|restriction: unknown host|reverse|your (?:host|domain|ip)/

/** Name of the rule for what became of a connection. */
export const CONNECTION_RULE = 'transport: no connection'
/** Name of the rule for a transient failure whose time ran out. */
export const GIVEN_UP_RULE = 'transport: given up for its age'

export const TRANSPORT_WORDS: readonly Rule[] = [
  {
    name: 'transport: DNS lookup failed',
    class: 'no-route',
    words:
      /(?:not found|name service|name server|look-?up|dns|nameserver|resolv)[^.]{0,80}(?:try again|temporar|time(?:d )?-?out|servfail|deferred)|look-?up failure(?!.{0,60}(?:nxdomain|no such))|(?:dns|name server)[^.:]{0,24} failure(?!.{0,60}nxdomain)|(?:temporar|tempfail)[^.]{0,40}(?:dns|look-?up|resol)/,
    sample: 'rcpt 450 Name service error: Host not found, try again',
  },
  {
    name: 'transport: no such host or domain',
    class: 'bad-domain',
    ofRecipientDomain: true,
    unless: OURS,
    words: new RegExp(
      [
        'host or domain name not found',
        'host(?:name)? (?:name )?(?:is )?(?:unknown|not found)',
        '(?:unknown|no such|bad destination|invalid|nonexistent|non-existent) (?:mail )?(?:host|domain|system)',
        '(?:find|locate) (?:any |an? )?(?:host|mail exchanger|mail ?server|mx)\\b',
        'unroute?able (?:mail )?domain|no ip address(?:es)? found for|host address look-?ups failed permanently',
        'domain[^.]{0,30}(?:not registered|infodomainnonexistent|nonexistentdomain)|nonexistentdomain|dns hard error',
        'has no (?:mail exchanger|mail ?server|mx|address)',
        'no (?:valid )?(?:mx|a|mail)(?:,? (?:or|nor) (?:mx|a|aaaa))?(?: ?/ ?\\w{1,4})? ?(?:records?|hosts?|servers?)',
        'domain (?:name )?(?:was )?(?:not (?:be )?found|does ?n.?.?t exist|does not exist|not exist)',
        'domain\\b[^.]{0,40}(?:couldn.t|could not) be found',
        'no mx (?:records? )?(?:(?:was |were )?found|for)|found no mx|nxdomain|null ?mx|nullmx',
        'point to non-existent hosts|only a? ?(?:non-existent|invalid) mx',
        '(?:destination(?! mail ?box)|host|computer)[^.]{0,40}(?:was )?not found',
        'name or service not known|cannot resolve|not resolv',
        'domain[^.]{0,20}(?:existiert nicht|unbekannt)|domaine inconnu|dominio (?:no existe|desconocido|inesistente)|домен не (?:существует|наиден)',
      ].join('|'),
    ),
    sample: 'rcpt 550 5.4.4 Host or domain name not found. Name service error: Host not found',
  },
  {
    name: CONNECTION_RULE,
    class: 'no-route',
    statuses: ['none', '0.', '1.', '2.', '3.', '4.', '5.', '6.'],
    words:
      /connect(?:ion|ing)?\b[^.]{0,80}(?:timed? ?-?out|refused|reset|fail|lost|dropped|closed|abort|unreach)|(?:closed|dropped|lost|ended) (?:the |our )?connection|no route to host|(?:network|host) (?:is )?unreachable|lost connection|timed out (?:while|after|waiting)|smtp connection|(?:requests to|unable to|could not|cannot|can.t) connect|not respond|no (?:answer|response)\b|bad connection|network error|communication failure|delay reason|verbindung (?:abgelehnt|fehlgeschlagen|konnte nicht)|connexion (?:refusee|impossible)/,
    sample: 'rcpt 550 5.4.1 no answer from host',
  },
  {
    name: GIVEN_UP_RULE,
    class: 'no-route',
    words:
      /retry time(?:out exceeded| not reached)|(?<!(?:account|alias|mailbox|user|address|recipient|restriction:)(?: has| is)? )expired\b(?! account)|exceeds the expiry|(?:too long|time) (?:in|on) (?:the )?queue|in the queue too long|(?:not be delivered|undeliver|cannot send message|not been delivered)[^.]{0,40}(?:for|after|within) (?:past |more than )?\d{1,4}(?:\.\d)? ?(?:day|hour|minute|tag|stund)|next delivery time|lifetime|delivery time/,
    sample: 'rcpt 450 4.4.7 QUEUE.Expired; message expired',
  },
  {
    name: 'transport: routing loop or no route',
    class: 'no-route',
    words: /loops back|mail loop|too many hops|hop count|unable to route|noconnector|routing (?:error|loop)/,
    sample: 'rcpt 550 5.4.4 unable to route: no way to this type of address',
  },
]

/** Rules about a temporary condition, one sender or one message. */
export const REPORT_EXCUSES: readonly Rule[] = [
  {
    name: 'report: mailbox full',
    class: 'mailbox-full',
    words:
      /(?:mail ?box|mail file|database|user)[^.]{0,40}(?:exceed|over)[^.]{0,40}(?:size|quota|limit|storage)|dis[ck] quota|over ?quota|messages? in (?:the )?recipient.s mail ?box exceeded|mail ?box[^.]{0,20}\bfull\b|can.t create (?:user )?output/,
    sample: 'rcpt 550 The mail file is over its limit',
  },
  {
    name: 'report: content is refused',
    class: 'content',
    words:
      /content (?:restriction|polic|filter|reject|not (?:allowed|accepted))|(?:message|mail) content (?:was )?(?:reject|refus|block)|rejected (?:due to|because of) (?:its )?content/,
    unless: /spam|banned/,
    sample: 'rcpt 550 5.1.1 Message rejected due to content restrictions',
  },
  {
    name: 'report: restricted to members or senders',
    class: 'policy',
    words:
      /not a member|members[ -]only|non-?members?|permission to post|not accepting (?:e-?)?mail from|moderated|blocked (?:your|by the (?:user|recipient))|has blocked|recipient preferences|not to receive|due to (?:its |our |local )?polic|polic(?:y|ies) (?:rejection|violation)|refuses? to receive|does(?: not|n.t) want mail/,
    sample: 'rcpt 550 You are not a member of this list',
  },
  {
    name: 'report: account temporarily disabled',
    class: 'unknown',
    words: /account is temporarily|temporarily (?:unavailable|disabled)/,
    sample: 'rcpt 450 The account is temporarily unavailable',
  },
]
