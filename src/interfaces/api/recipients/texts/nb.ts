/** Norwegian (Bokmål) texts of recipients' pages. */
import type { PageTexts } from './texts.ts'

export const nb: PageTexts = {
  sender: name => name ?? 'denne avsenderen',
  emailsFrom: sender => `E-poster fra ${sender}`,
  emailsAbout: topic => `E-poster om ${topic}`,
  receives: (address, sender) => `Du mottar e-poster fra ${sender} på ${address}.`,
  receivesAbout: (address, sender, topic) => `Du mottar e-poster om ${topic} fra ${sender} på ${address}.`,
  leftAll: (address, sender) => `${address} er meldt av alle e-poster fra ${sender}.`,
  leftTopic: (address, topic) => `${address} er meldt av e-poster om ${topic}.`,
  saved: 'Innstillingene dine er lagret.',
  subscribedAgain: 'Du abonnerer igjen.',
  leaveTopic: topic => `Meld meg av ${topic}`,
  leaveAll: 'Meld meg av alle e-poster',
  subscribeAgain: 'Abonner igjen',
  save: 'Lagre',
  chooseTopics: 'Eller velg emner',
  selectToReturn: 'Velg emnene du vil motta. Uten et valg forblir du avmeldt.',
  from: 'Fra',
  to: 'Til',
  cc: 'Kopi',
  date: 'Dato',
  email: 'E-posten',
  brokenLink: 'Lenken virker ikke',
  brokenLinkHint: 'Den kan ha blitt kuttet eller endret. Åpne den fra e-posten på nytt.',
  emailGone: 'E-posten er ikke lenger tilgjengelig',
  emailGoneHint:
    'E-poster kan leses i nettleseren i en begrenset periode. Den ligger kanskje fortsatt i innboksen din.',
}
