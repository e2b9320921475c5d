package io.seriatim.train.model;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.tensor.Tensor;
import io.seriatim.train.data.Vocabulary;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class NameSamplerTest {
    private static final Vocabulary LETTERS = Vocabulary.of("\nabcdef");
    private static final int CONTEXT = 4;

    /**
     * Predicts the next letter at each position, and the line feed after the last: every name is abcdef, whatever
     * random numbers are drawn.
     */
    private static NameSampler.Predictor alphabet(List<Tensor> calls) {
        return tokens -> {
            calls.add(Tensor.of(tokens.toLongArray(), tokens.shape().dims()));
            long[] given = tokens.toLongArray();
            float[] scores = new float[given.length * LETTERS.size()];
            for (int i = 0; i < given.length; i++) {
                scores[i * LETTERS.size() + (int) (given[i] + 1) % LETTERS.size()] = 1000;
            }
            return Tensor.of(scores, tokens.shape().dim(0), tokens.shape().dim(1), LETTERS.size());
        };
    }

    /** All letters are equally likely. */
    private static final NameSampler.Predictor ANY = tokens -> Tensor.of(
            new float[(int) tokens.shape().size() * LETTERS.size()],
            tokens.shape().dim(0), tokens.shape().dim(1), LETTERS.size());

    private static List<String> names(List<NameSampler.Invention> inventions) {
        return inventions.stream().map(NameSampler.Invention::name).toList();
    }

    @Test
    void beginsAndEndsAtLineFeeds() {
        List<Tensor> calls = new ArrayList<>();
        NameSampler inventor = new NameSampler(alphabet(calls), LETTERS, CONTEXT, 50);
        assertEquals(List.of(new NameSampler.Invention("abcdef", true), new NameSampler.Invention("abcdef", true)),
                inventor.invent(2, 1, 1, Set.of("abcdef")::contains));
        assertEquals(List.of("0 0 0 0", "0 1 0 0", "0 1 2 0", "0 1 2 3", "1 2 3 4", "2 3 4 5", "3 4 5 6"),
                calls.stream().map(call -> firstRow(call.toLongArray())).toList(),
                "what is longer than the context is shifted out");
        assertEquals(false, inventor.invent(1, 1, 1, _ -> false).getFirst().exists());
    }

    private static String firstRow(long[] tokens) {
        assertEquals(2 * CONTEXT, tokens.length);
        return String.join(" ", Arrays.stream(tokens).limit(CONTEXT).mapToObj(Long::toString).toList());
    }

    @Test
    void cutsOffWhatDoesNotEnd() {
        assertEquals(List.of("abc"),
                names(new NameSampler(alphabet(new ArrayList<>()), LETTERS, CONTEXT, 3).invent(1, 1, 1, _ -> false)));
        assertEquals(List.of("abcdef"),
                names(new NameSampler(alphabet(new ArrayList<>()), LETTERS, 1, 6).invent(1, 1, 1, _ -> false)));
    }

    @Test
    void aSeedGivesTheSameNames() {
        NameSampler inventor = new NameSampler(ANY, LETTERS, CONTEXT, 40);
        List<String> first = names(inventor.invent(30, 1, 5, _ -> false));
        assertEquals(first, names(inventor.invent(30, 1, 5, _ -> false)));
        assertNotEquals(first, names(inventor.invent(30, 1, 6, _ -> false)));
        assertEquals(first.subList(0, 10), names(inventor.invent(10, 1, 5, _ -> false)),
                "each name has its own numbers");
    }

    /**
     * The logits are 0 for the line feed, 1 for a and much lower for other letters: at temperature t, a is exp(1/t)
     * times as frequent as the line feed.
     */
    @Test
    void temperatureSharpens() {
        NameSampler.Predictor two = tokens -> {
            float[] scores = new float[(int) tokens.shape().size() * LETTERS.size()];
            Arrays.fill(scores, -1000);
            for (int i = 0; i < scores.length; i += LETTERS.size()) {
                scores[i] = 0;
                scores[i + 1] = 1;
            }
            return Tensor.of(scores, tokens.shape().dim(0), tokens.shape().dim(1), LETTERS.size());
        };
        for (double temperature : new double[]{0.5, 1, 2}) {
            double mean = names(new NameSampler(two, LETTERS, 1, 100_000).invent(4000, temperature, 1, _ -> false))
                    .stream()
                    .mapToInt(String::length).average().orElseThrow();
            assertEquals(Math.exp(1 / temperature), mean, 0.1 * Math.exp(1 / temperature),
                    "mean length at " + temperature);
        }
    }

    @Test
    void everyTokenIsChosenAsOftenAsItIsLikely() {
        String all = String.join("",
                names(new NameSampler(ANY, LETTERS, CONTEXT, 1000).invent(2000, 1, 3, _ -> false)));
        for (int letter = 'a'; letter <= 'f'; letter++) {
            int wanted = letter;
            double part = (double) all.chars().filter(each -> each == wanted).count() / all.length();
            assertEquals(1 / 6.0, part, 0.02, Character.toString(letter));
        }
    }

    private static String refused(Runnable action) {
        return String.valueOf(assertThrows(IllegalArgumentException.class, action::run).getMessage());
    }

    @Test
    void refusesWhatCannotInvent() {
        NameSampler inventor = new NameSampler(ANY, LETTERS, CONTEXT, 40);
        assertTrue(refused(() -> new NameSampler(ANY, Vocabulary.of("abc"), 4, 4))
                .startsWith("Names begin and end at line feeds"));
        assertTrue(refused(() -> new NameSampler(ANY, LETTERS, 0, 4)).contains("these are 0 and 4"));
        assertTrue(refused(() -> inventor.invent(0, 1, 1, _ -> false)).contains("these are 0 and 1.0"));
        assertTrue(refused(() -> inventor.invent(1, 0, 1, _ -> false)).contains("these are 1 and 0.0"));
        assertTrue(refused(() -> new NameSampler(ANY, Vocabulary.of("\nab"), 4, 4).invent(1, 1, 1, _ -> false))
                .startsWith("The model must score each of the 3 characters at 4 positions, but gives 28 scores"));
        NameSampler.Predictor broken = tokens -> {
            float[] scores = new float[(int) tokens.shape().size() * LETTERS.size()];
            Arrays.fill(scores, Float.NaN);
            return Tensor.of(scores, tokens.shape().dim(0), tokens.shape().dim(1), LETTERS.size());
        };
        assertEquals("The model's scores must be numbers, but the highest is NaN: its training has failed",
                refused(() -> new NameSampler(broken, LETTERS, 4, 4).invent(1, 1, 1, _ -> false)));
    }
}
