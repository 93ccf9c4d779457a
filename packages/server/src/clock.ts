/** The time of day comes as an argument, so that a test can turn it. */
export type Clock = () => Date;
