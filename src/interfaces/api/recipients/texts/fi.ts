/** Finnish texts of recipients' pages. */
import type { PageTexts } from './texts.ts'

export const fi: PageTexts = {
  sender: name => (name === undefined ? 'tämän lähettäjän' : `lähettäjän ${name}`),
  emailsFrom: sender => `Kaikki ${sender} sähköpostit`,
  emailsAbout: topic => `Sähköpostit aiheesta ${topic}`,
  receives: (address, sender) => `Saat ${sender} sähköposteja osoitteeseen ${address}.`,
  receivesAbout: (address, sender, topic) =>
    `Saat ${sender} sähköposteja aiheesta ${topic} osoitteeseen ${address}.`,
  leftAll: (address, sender) => `Osoite ${address} on poistettu kaikilta ${sender} postituslistoilta.`,
  leftTopic: (address, topic) => `Osoitteen ${address} tilaus aiheesta ${topic} on peruttu.`,
  saved: 'Asetuksesi on tallennettu.',
  subscribedAgain: 'Tilauksesi on taas voimassa.',
  leaveTopic: topic => `Peru tilaus: ${topic}`,
  leaveAll: 'Peru kaikki sähköpostit',
  subscribeAgain: 'Tilaa uudelleen',
  save: 'Tallenna',
  chooseTopics: 'Tai valitse aiheet',
  selectToReturn: 'Valitse aiheet, jotka haluat tilata. Jos et valitse mitään, tilauksesi pysyy peruttuna.',
  from: 'Lähettäjä',
  to: 'Vastaanottaja',
  cc: 'Kopio',
  date: 'Päiväys',
  email: 'Sähköposti',
  brokenLink: 'Linkki ei toimi',
  brokenLinkHint: 'Se on ehkä katkennut tai muuttunut. Avaa se sähköpostista uudelleen.',
  emailGone: 'Tämä sähköposti ei ole enää saatavilla',
  emailGoneHint:
    'Sähköposteja voi lukea selaimessa vain rajoitetun ajan. Viesti saattaa yhä olla postilaatikossasi.',
}
