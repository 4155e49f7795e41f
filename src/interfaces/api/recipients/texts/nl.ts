/** Dutch texts of recipients' pages. */
import type { PageTexts } from './texts.ts'

export const nl: PageTexts = {
  sender: name => name ?? 'deze afzender',
  emailsFrom: sender => `E-mails van ${sender}`,
  emailsAbout: topic => `E-mails over ${topic}`,
  receives: (address, sender) => `U ontvangt e-mails van ${sender} op ${address}.`,
  receivesAbout: (address, sender, topic) => `U ontvangt e-mails van ${sender} over ${topic} op ${address}.`,
  leftAll: (address, sender) => `${address} is afgemeld voor alle e-mails van ${sender}.`,
  leftTopic: (address, topic) => `${address} is afgemeld voor e-mails over ${topic}.`,
  saved: 'Uw voorkeuren zijn opgeslagen.',
  subscribedAgain: 'U bent weer aangemeld.',
  leaveTopic: topic => `Afmelden voor ${topic}`,
  leaveAll: 'Afmelden voor alle e-mails',
  subscribeAgain: 'Weer aanmelden',
  save: 'Opslaan',
  chooseTopics: 'Of kies uw onderwerpen',
  selectToReturn: 'Selecteer de onderwerpen die u wilt ontvangen. Zonder selectie blijft u afgemeld.',
  from: 'Van',
  to: 'Aan',
  cc: 'Cc',
  date: 'Datum',
  email: 'De e-mail',
  brokenLink: 'Deze link werkt niet',
  brokenLinkHint: 'Misschien is de link afgebroken of gewijzigd. Open de link opnieuw vanuit de e-mail.',
  emailGone: 'Deze e-mail is niet meer beschikbaar',
  emailGoneHint:
    'E-mails kunnen beperkte tijd in de browser worden gelezen. Misschien staat deze nog in uw mailbox.',
}
