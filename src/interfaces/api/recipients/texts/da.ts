/** Danish texts of recipients' pages. */
import type { PageTexts } from './texts.ts'

export const da: PageTexts = {
  sender: name => name ?? 'denne afsender',
  emailsFrom: sender => `E-mails fra ${sender}`,
  emailsAbout: topic => `E-mails om ${topic}`,
  receives: (address, sender) => `Du modtager e-mails fra ${sender} på ${address}.`,
  receivesAbout: (address, sender, topic) => `Du modtager e-mails om ${topic} fra ${sender} på ${address}.`,
  leftAll: (address, sender) => `${address} er afmeldt alle e-mails fra ${sender}.`,
  leftTopic: (address, topic) => `${address} er afmeldt e-mails om ${topic}.`,
  saved: 'Dine indstillinger er gemt.',
  subscribedAgain: 'Du er tilmeldt igen.',
  leaveTopic: topic => `Afmeld ${topic}`,
  leaveAll: 'Afmeld alle e-mails',
  subscribeAgain: 'Tilmeld igen',
  save: 'Gem',
  chooseTopics: 'Eller vælg dine emner',
  selectToReturn: 'Vælg de emner, du vil modtage. Uden et valg forbliver du afmeldt.',
  from: 'Fra',
  to: 'Til',
  cc: 'Cc',
  date: 'Dato',
  email: 'E-mailen',
  brokenLink: 'Linket virker ikke',
  brokenLinkHint: 'Det er måske blevet afkortet eller ændret. Åbn det igen fra e-mailen.',
  emailGone: 'E-mailen er ikke længere tilgængelig',
  emailGoneHint:
    'E-mails kan læses i browseren i en begrænset periode. Den ligger måske stadig i din indbakke.',
}
