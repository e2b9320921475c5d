package io.seriatim.train;

import io.seriatim.tensor.AtomicFile;
import io.seriatim.tensor.FileFormatException;
import io.seriatim.tensor.InputFiles;
import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;

/**
 * The state of a training that is not in variables of the program. It determines the position of the reader (by seed,
 * epoch and batch) and the random numbers (by seed and step).
 *
 * @param program
 *            the hash of the trained program
 * @param startup
 *            the hash of the program that initialises the variables, with the learning rate and the state of the
 *            optimizer; empty if it is unknown
 * @param rates
 *            the learning rates, see {@link Rates}; empty if they are unknown
 * @param seed
 *            the seed of the order of examples and of random numbers
 * @param batch
 *            the number of examples of a step
 * @param examples
 *            the number of training examples
 * @param data
 *            the fingerprint of the data; empty if it is unknown
 * @param step
 *            the number of completed steps
 * @param epoch
 *            the epoch of the next step, from 0
 * @param batchOfEpoch
 *            the index of the next batch in the epoch, from 0
 * @param bestStep
 *            the step after which the validation loss was smallest; −1 if there was no evaluation
 * @param bestLoss
 *            the smallest validation loss; infinite if there was no evaluation
 * @param since
 *            the number of evaluations after the best one
 */
record TrainingState(long program, String startup, String rates, long seed, int batch, int examples, String data,
        long step, int epoch,
        long batchOfEpoch, long bestStep,
        double bestLoss, int since) {
    private static final int VERSION = 1;

    static TrainingState begin(long program, String startup, String rates, long seed, int batch, int examples,
            String data) {
        return new TrainingState(program, startup, rates, seed, batch, examples, data, 0, 0, 0, -1,
                Double.POSITIVE_INFINITY, 0);
    }

    /** Returns the state with what the training that resumes it knows. */
    TrainingState with(String newStartup, String newRates) {
        return new TrainingState(program, newStartup, newRates, seed, batch, examples, data, step, epoch, batchOfEpoch,
                bestStep, bestLoss, since);
    }

    /** Returns the state of another step. */
    TrainingState at(long newStep, int newEpoch, long newBatchOfEpoch, long newBestStep, double newBestLoss,
            int newSince) {
        return new TrainingState(program, startup, rates, seed, batch, examples, data, newStep, newEpoch,
                newBatchOfEpoch, newBestStep, newBestLoss, newSince);
    }

    TrainingState stepped(long batchesOfEpoch) {
        boolean last = batchOfEpoch + 1 == batchesOfEpoch;
        return new TrainingState(program, startup, rates, seed, batch, examples, data, step + 1,
                last ? epoch + 1 : epoch,
                last ? 0 : batchOfEpoch + 1,
                bestStep,
                bestLoss,
                since);
    }

    TrainingState evaluated(double loss) {
        return loss < bestLoss
                ? new TrainingState(program, startup, rates, seed, batch, examples, data, step, epoch, batchOfEpoch,
                        step, loss, 0)
                : new TrainingState(program, startup, rates, seed, batch, examples, data, step, epoch, batchOfEpoch,
                        bestStep, bestLoss,
                        since + 1);
    }

    /** Returns whether the latest evaluation is the best one and no step has run since. */
    boolean isBest() {
        return step == bestStep;
    }

    void write(Path file) throws IOException {
        Map<String, String> lines = new LinkedHashMap<>();
        lines.put("version", Integer.toString(VERSION));
        lines.put("program", Long.toHexString(program));
        lines.put("startup", startup);
        lines.put("rates", rates);
        lines.put("seed", Long.toString(seed));
        lines.put("batch", Integer.toString(batch));
        lines.put("examples", Integer.toString(examples));
        lines.put("data", data);
        lines.put("step", Long.toString(step));
        lines.put("epoch", Integer.toString(epoch));
        lines.put("batch-of-epoch", Long.toString(batchOfEpoch));
        lines.put("best-step", Long.toString(bestStep));
        lines.put("best-loss", Double.toString(bestLoss));
        lines.put("evaluations-since", Integer.toString(since));
        AtomicFile.writeText(file, out -> {
            for (Map.Entry<String, String> line : lines.entrySet()) {
                out.write(line.getKey() + "=" + line.getValue() + "\n");
            }
        });
    }

    static TrainingState read(Path file) throws IOException {
        Map<String, String> lines = new LinkedHashMap<>();
        for (String line : lines(file)) {
            int equals = line.indexOf('=');
            if (equals > 0) {
                lines.put(line.substring(0, equals), line.substring(equals + 1));
            }
        }
        Parser parser = new Parser(file, lines);
        int version = parser.number("version", Integer::parseInt);
        if (version != VERSION) {
            throw parser.wrong("version", Integer.toString(version),
                    "is not " + VERSION + ", which this version of Seriatim writes");
        }
        // Earlier versions did not write the entries that are not required here.
        return new TrainingState(parser.number("program", text -> Long.parseUnsignedLong(text, 16)),
                lines.getOrDefault("startup", ""), lines.getOrDefault("rates", ""),
                parser.number("seed", Long::parseLong),
                parser.number("batch", Integer::parseInt), parser.number("examples", Integer::parseInt),
                lines.getOrDefault("data", ""),
                parser.number("step", Long::parseLong), parser.number("epoch", Integer::parseInt),
                parser.number("batch-of-epoch", Long::parseLong), parser.number("best-step", Long::parseLong),
                parser.number("best-loss", Double::parseDouble), parser.number("evaluations-since", Integer::parseInt));
    }

    private static List<String> lines(Path file) throws IOException {
        try {
            return Files.readAllLines(InputFiles.requireRegular(file));
        } catch (CharacterCodingException e) {
            throw new FileFormatException(file.toString(), "it is no text in UTF-8: resume from another checkpoint", e);
        }
    }

    private record Parser(Path file, Map<String, String> lines) {
        <T> T number(String name, Function<String, T> parse) throws IOException {
            String text = lines.get(name);
            if (text == null) {
                throw wrong(name, "", "is missing");
            }
            try {
                return parse.apply(text);
            } catch (NumberFormatException e) {
                throw wrong(name, text, "is not a number");
            }
        }

        FileFormatException wrong(String name, String text, String what) {
            return new FileFormatException(file.toString(),
                    String.format(Locale.ROOT, "'%s'%s %s: resume from another checkpoint", name,
                            text.isEmpty() ? "" : " " + text, what));
        }
    }
}
