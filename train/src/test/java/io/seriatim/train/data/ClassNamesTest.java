package io.seriatim.train.data;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class ClassNamesTest {
    private static ClassNames runtime = ClassNames.of(List.of("a", "b"));

    @BeforeAll
    static void read() throws IOException {
        runtime = ClassNames.ofRuntime();
    }

    private static List<String> lines(TextData text, Tokens tokens) {
        String all = text.vocabulary().decode(tokens.toArray());
        assertTrue(all.startsWith("\n") && all.endsWith("\n"));
        return Arrays.asList(all.substring(1, all.length() - 1).split("\n", -1));
    }

    @Test
    void namesTheClassesOfTheRunningJdk() {
        for (String name : List.of(Object.class.getName(), Map.Entry.class.getName(), "java.net.http.HttpClient")) {
            assertTrue(runtime.contains(name), name);
        }
        assertFalse(runtime.contains(getClass().getName()));
        assertFalse(runtime.contains("java.util.Map.Entry"));
        assertTrue(runtime.names().size() > 5_000, () -> runtime.names().size() + " names");
        assertEquals(List.copyOf(new TreeSet<>(runtime.names())), runtime.names(), "sorted and distinct");
        Pattern wrong = Pattern.compile("\\$[0-9]|[/\\n]|(module|package)-info|\\.class$|^java\\.base");
        assertEquals(List.of(), runtime.names().stream().filter(name -> wrong.matcher(name).find()).toList());
    }

    @Test
    void allNamesCanBeLoadedFromTheRunningJdk() {
        for (int i = 0; i < runtime.names().size(); i += 500) {
            String name = runtime.names().get(i);
            assertTrue(
                    ModuleLayer.boot().modules().stream().anyMatch(module -> Class.forName(module, name) != null)
                            || isOutsideOfTheBootLayer(name),
                    name);
        }
    }

    /** The run-time image contains the module, but it is not loaded, since no module requires it. */
    private static boolean isOutsideOfTheBootLayer(String name) {
        Set<String> loaded = new HashSet<>();
        ModuleLayer.boot().modules().forEach(module -> loaded.addAll(module.getPackages()));
        return !loaded.contains(name.substring(0, name.lastIndexOf('.')));
    }

    @Test
    void leavesOutWhatHasNoNameOfItsOwn() {
        assertTrue(ClassNames.isNamedClass("java/util/Map$Entry.class"));
        assertTrue(ClassNames.isNamedClass("A$.class"));
        assertTrue(ClassNames.isNamedClass("A1$B2.class"));
        for (String file : List.of("a/A$1.class", "A$1Local.class", "A$B$12$C.class", "module-info.class",
                "a/package-info.class", "A.txt",
                "class")) {
            assertFalse(ClassNames.isNamedClass(file), file);
        }
    }

    @Test
    void splitsByName() {
        TextData text = runtime.split(7);
        List<String> training = lines(text, text.training());
        List<String> validation = lines(text, text.validation());
        assertEquals(runtime.names().size(), training.size() + validation.size());
        assertEquals(runtime.names().size() / 10, validation.size());
        Set<String> all = new HashSet<>(training);
        all.addAll(validation);
        assertEquals(Set.copyOf(runtime.names()), all);
        assertNotEquals(training.stream().sorted().toList(), training, "shuffled");
    }

    @Test
    void theSplitIsAFunctionOfTheSeed() {
        TextData first = runtime.split(7);
        TextData second = runtime.split(7);
        assertArrayEquals(first.training().toArray(), second.training().toArray());
        assertArrayEquals(first.validation().toArray(), second.validation().toArray());
        assertEquals(first.vocabulary(), second.vocabulary());
        TextData other = runtime.split(8);
        assertFalse(Arrays.equals(first.validation().toArray(), other.validation().toArray()));
        assertEquals(first.vocabulary(), other.vocabulary());
    }

    @Test
    void fewNamesAreSplitToo() {
        ClassNames names = ClassNames.of(List.of("b.B", "a.A", "b.B", "c.C"));
        assertEquals(List.of("a.A", "b.B", "c.C"), names.names());
        TextData text = names.split(0);
        assertEquals("\n.ABCabc", text.vocabulary().characters());
        assertEquals(2, lines(text, text.training()).size());
        assertEquals(1, lines(text, text.validation()).size());
        assertThrows(IllegalArgumentException.class, () -> ClassNames.of(List.of("a", "a")));
        assertThrows(IllegalArgumentException.class, () -> ClassNames.of(List.of("a", "")));
        assertThrows(IllegalArgumentException.class, () -> ClassNames.of(List.of("a", "b\nc")));
    }

    @Test
    void aGivenSplitStaysWhatItIs() {
        ClassNames names = ClassNames.of(IntStream.range(10, 30).mapToObj(i -> "n" + i).toList());
        TextData text = names.split(42);
        assertEquals(List.of("n18", "n22"), lines(text, text.validation()));
    }
}
