package io.seriatim.train.data;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

class VocabularyTest {
    @Test
    void numbersCharactersInTheOrderOfTheirCodePoints() {
        Vocabulary vocabulary = Vocabulary.of("banana\nß😀ｅ");
        assertEquals("\nabnßｅ😀", vocabulary.characters());
        assertEquals(7, vocabulary.size());
        assertEquals(6, vocabulary.token(0x1F600));
        assertEquals(5, vocabulary.token('ｅ'));
        assertArrayEquals(new int[]{2, 1, 3, 6, 0, 4}, vocabulary.encode("ban😀\nß").toArray());
        assertEquals("ban😀\nß", vocabulary.decode(2, 1, 3, 6, 0, 4));
        assertEquals("", vocabulary.decode());
        assertEquals(0, vocabulary.encode("").length());
    }

    @Test
    void comesBackFromItsCharacters() {
        Vocabulary vocabulary = Vocabulary.of("Höhe × 😀😀");
        assertEquals(vocabulary, Vocabulary.of(vocabulary.characters()));
        assertEquals(vocabulary.hashCode(), Vocabulary.of(vocabulary.characters()).hashCode());
        assertNotEquals(vocabulary, Vocabulary.of("Höhe × "));
    }

    @Test
    void namesTheCharacterThatItDoesNotKnow() {
        Vocabulary vocabulary = Vocabulary.of("abc");
        assertTrue(vocabulary.contains('a'));
        assertFalse(vocabulary.contains('d'));
        assertFalse(vocabulary.contains(0x1F600));
        assertFalse(vocabulary.contains(-1));
        assertEquals("The vocabulary of 3 characters has no '😀' (U+1F600), at place 2 of the text",
                message(() -> vocabulary.encode("ab😀")));
        assertEquals("The vocabulary of 3 characters has no (U+000A)", message(() -> vocabulary.token('\n')));
        assertEquals("The vocabulary of 3 characters has no (U+D800), at place 0 of the text",
                message(() -> vocabulary.encode("\uD800")));
        assertEquals("A token must be from 0 to 2, but that at place 1 is 3", message(() -> vocabulary.decode(0, 3)));
        assertEquals("A token must be from 0 to 2, but that at place 0 is -1", message(() -> vocabulary.decode(-1)));
    }

    @Test
    void hasFromOneTo65536Characters() {
        assertTrue(message(() -> Vocabulary.of("")).contains("from 1 to 65536"));
        String most = IntStream.range(0x10000, 0x20000).mapToObj(Character::toString).collect(Collectors.joining());
        Vocabulary full = Vocabulary.of(most);
        assertEquals(65_536, full.size());
        assertEquals(0xFFFF, full.encode(Character.toString(0x1FFFF)).get(0));
        assertTrue(message(() -> Vocabulary.of(most + "a")).contains("65537"));
    }

    @Test
    void tokensArePartsOfOneAnother() {
        Tokens tokens = Tokens.of(5, 6, 7, 65_535);
        Tokens part = tokens.slice(1, 4).slice(1, 3);
        assertArrayEquals(new int[]{7, 65_535}, part.toArray());
        assertEquals(2, part.length());
        assertEquals(7, part.get(0));
        assertThrows(IndexOutOfBoundsException.class, () -> part.get(2));
        assertThrows(IndexOutOfBoundsException.class, () -> part.slice(0, 3));
        assertTrue(message(() -> Tokens.of(0, 65_536)).contains("at 1 is 65536"));
        assertTrue(message(() -> Tokens.of(-1)).contains("at 0 is -1"));
    }

    private static String message(Executable action) {
        return String.valueOf(assertThrows(IllegalArgumentException.class, action).getMessage());
    }
}
