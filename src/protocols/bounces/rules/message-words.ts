/** Rules by phrases about the sender or the individual message. */
import { any, type Rule } from './rule.ts'

export const MESSAGE_WORDS: readonly Rule[] = [
  {
    name: 'words: greeting',
    class: 'policy',
    words: /\b(?:helo|ehlo)\b|fully-?qualified|fqdn/,
    sample: 'rcpt 504 5.5.2 HELO needs a fully-qualified host name',
  },
  {
    name: 'words: sender',
    class: 'sender',
    words:
      /sender (?:e?-?mail )?(?:address|domain|rejected|denied|refused|verif|blocked|unknown|(?:is )?not (?:allowed|permitted|exist|found|valid))|(?:valid|envelope|invalid|forged|spoofed) sender|domain of (?:the )?sender|sender.s? (?:domain|address|account)|account sending|sending account|bad from header|mail from (?:this |that |your )?(?:domain|address|user|account)|(?:from|reply-to) address|badmailfrom|return[ -]path/,
    sample: 'rcpt 550 Your envelope sender is in my badmailfrom list',
  },
  {
    name: 'words: virus or phishing',
    class: 'content',
    words: /(?<!anti)(?<!anti-)virus|malware|infected|trojan|phish|schadsoftware|вирус|wirus|ウイルス|病毒/,
    sample: 'final-dot 554 5.7.1 A virus was found in this message',
  },
  {
    name: 'words: too large',
    class: 'message-too-large',
    words: any(
      /too (?:large|big)|size limit|exceed\S{0,3} [^.]{0,40}size|(?:message|maximum|maximal) size|size exceed/,
      /zu gro(?:ss|ß)|trop (?:gros|volumineu|grand)|demasiado grande|muito grande|troppo grande|слишком (?:больш|велик)|zbyt duz[aey]|サイズ.{0,10}(?:超|大き)|(?:邮件|信件|郵件).{0,6}(?:过大|太大|過大)/,
    ),
    sample: 'final-dot 552 The message is too large',
  },
  {
    name: 'words: attachment',
    class: 'attachment',
    words:
      /attachment|attached file|file ?type|file (?:name )?extension|anhang|pieces? jointes?|adjunto|\banexo|allegat|вложени|za.acznik|添付|附件/,
    sample: 'final-dot 552 5.7.0 Attachments of this kind are not taken',
  },
  {
    name: 'words: spam',
    class: 'spam',
    words:
      /(?<!anti)(?<!anti-)(?<!anti )spam(?!haus|cop)|junk|unsolicited|bulk e?-?mail|unerwunscht|courrier indesirable|pourriel|no desead[oa]|correo basura|indesejad[oa]|indesiderat[ao]|спам|niechcian|迷惑メール|垃圾(?:邮件|郵件|信)/,
    sample: 'final-dot 554 5.7.1 This looks like spam',
  },
  {
    name: 'words: the message is refused by a policy',
    class: 'content',
    detail: 'policy',
    phases: ['data', 'final-dot'],
    words: /\bpolic(?:y|ies)\b/,
    sample: 'final-dot 550 5.1.1 Message refused by policy',
  },
  {
    name: 'words: the message is refused',
    class: 'content',
    phases: ['data', 'final-dot'],
    words:
      /\b(?:message|mail|content)\b[^.]{0,30}(?:reject|refus|not accept|quarantin)|quarantine|will not accept/,
    sample: 'final-dot 550 5.1.1 Message refused',
  },
  {
    name: 'no recipient was accepted',
    class: 'content',
    phases: ['data'],
    words: /no (?:valid )?recipients/,
    sample: 'data 554 5.5.1 Error: no valid recipients',
  },
]
