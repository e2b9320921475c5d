package io.seriatim.examples.parallel;

/** The arguments of a program: whole numbers, each with a default value and a range. */
final class Arguments {
    private final String usage;
    private final String[] given;
    private int next;

    Arguments(String usage, String... given) {
        this.usage = usage;
        this.given = given.clone();
    }

    /** Returns the next number, or its default value if the arguments have ended. */
    int next(String name, int byDefault, int least, int most) {
        if (next == given.length) {
            return byDefault;
        }
        String text = given[next++];
        try {
            int value = Integer.parseInt(text);
            if (value >= least && value <= most) {
                return value;
            }
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException(name + " is a whole number, not '" + text + "'; usage: " + usage, e);
        }
        throw new IllegalArgumentException(
                name + " is from " + least + " to " + most + ", not " + text + "; usage: " + usage);
    }

    /** Returns the number of workers, the last argument. */
    int workers() {
        int workers = next("WORKERS", Runtime.getRuntime().availableProcessors(), 1, 256);
        if (next < given.length) {
            throw new IllegalArgumentException("'" + given[next] + "' is one argument too many; usage: " + usage);
        }
        return workers;
    }
}
