/** Portuguese texts of recipients' pages. */
import type { PageTexts } from './texts.ts'

export const pt: PageTexts = {
  sender: name => name ?? 'este remetente',
  emailsFrom: sender => `E-mails enviados por ${sender}`,
  emailsAbout: topic => `E-mails sobre ${topic}`,
  receives: (address, sender) => `Você recebe e-mails enviados por ${sender} no endereço ${address}.`,
  receivesAbout: (address, sender, topic) =>
    `Você recebe e-mails sobre ${topic} enviados por ${sender} no endereço ${address}.`,
  leftAll: (address, sender) =>
    `A inscrição de ${address} em todos os e-mails enviados por ${sender} foi cancelada.`,
  leftTopic: (address, topic) => `A inscrição de ${address} nos e-mails sobre ${topic} foi cancelada.`,
  saved: 'Suas preferências foram salvas.',
  subscribedAgain: 'Sua inscrição está ativa novamente.',
  leaveTopic: topic => `Cancelar a inscrição em ${topic}`,
  leaveAll: 'Cancelar a inscrição em todos os e-mails',
  subscribeAgain: 'Inscrever-se novamente',
  save: 'Salvar',
  chooseTopics: 'Ou escolha seus temas',
  selectToReturn:
    'Selecione os temas que deseja receber. Sem nenhuma seleção, a inscrição continua cancelada.',
  from: 'De',
  to: 'Para',
  cc: 'Cc',
  date: 'Data',
  email: 'O e-mail',
  brokenLink: 'Este link não funciona',
  brokenLinkHint: 'Ele pode ter sido cortado ou alterado. Abra-o novamente a partir do e-mail.',
  emailGone: 'Este e-mail não está mais disponível',
  emailGoneHint:
    'Os e-mails podem ser lidos no navegador por tempo limitado. Talvez ele ainda esteja na sua caixa de entrada.',
}
