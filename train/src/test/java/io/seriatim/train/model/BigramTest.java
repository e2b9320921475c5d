package io.seriatim.train.model;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.seriatim.train.data.TextWindows;
import io.seriatim.train.data.Tokens;
import java.io.IOException;
import org.junit.jupiter.api.Test;

class BigramTest {
    /** 0 1 0 1 1: after 0 there is 1 twice; after 1 there are 0 and 1, once each; after 2 nothing. */
    private static Bigram counted() {
        return Bigram.of(Tokens.of(0, 1, 0, 1, 1), 3, 1);
    }

    @Test
    void countsPairs() {
        Bigram bigram = counted();
        assertEquals((2 + 1) / (2.0 + 3), bigram.probability(0, 1), 1e-15);
        assertEquals(1 / 5.0, bigram.probability(0, 0), 1e-15);
        assertEquals(2 / 5.0, bigram.probability(1, 0), 1e-15);
        assertEquals(1 / 5.0, bigram.probability(1, 2), 1e-15);
        assertEquals(1 / 3.0, bigram.probability(2, 2), 1e-15);
        assertEquals((2 + 0.5) / (2 + 1.5), Bigram.of(Tokens.of(0, 1, 0, 1, 1), 3, 0.5).probability(0, 1), 1e-15);
    }

    @Test
    void evaluatesATextWithoutItsFirstCharacter() {
        // 1→0: 2/5, 0→1: 3/5, 1→2: 1/5.
        double expected = -(Math.log(0.4) + Math.log(0.6) + Math.log(0.2)) / 3;
        assertEquals(expected, counted().loss(Tokens.of(1, 0, 1, 2)), 1e-15);
    }

    /**
     * Windows of three characters: the fourth character is a label in the first window and starts the second; an
     * incomplete window is dropped.
     */
    @Test
    void evaluatesWindowsAsANetworkIsEvaluated() throws IOException {
        Tokens text = Tokens.of(1, 0, 1, 2, 2, 1, 1, 0);
        assertEquals(counted().loss(text.slice(0, 7)), counted().loss(new TextWindows(text, 3)), 1e-15);
    }

    @Test
    void refusesOtherCharacters() {
        assertEquals(
                "Characters of a bigram model must be from 0 to 2, but there is 3: give it the vocabulary of the "
                        + "training text",
                assertThrows(IllegalArgumentException.class, () -> Bigram.of(Tokens.of(0, 3), 3, 1)).getMessage());
        assertThrows(IllegalArgumentException.class, () -> counted().loss(Tokens.of(1, 3)));
        assertEquals("A bigram model evaluates texts of at least 2 characters, but this has 1",
                assertThrows(IllegalArgumentException.class, () -> counted().loss(Tokens.of(1))).getMessage());
        assertEquals("A bigram model needs at least 1 character and a smoothing above 0, but has 3 and 0.0",
                assertThrows(IllegalArgumentException.class, () -> Bigram.of(Tokens.of(0, 1), 3, 0)).getMessage());
    }
}
