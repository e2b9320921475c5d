package io.seriatim.graph.json;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.tensor.FileFormatException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class JsonTest {
    private static JsonValue parse(String text) throws FileFormatException {
        return JsonReader.parse("test.json", text.getBytes(StandardCharsets.UTF_8));
    }

    private static String error(String text) {
        return String.valueOf(assertThrows(FileFormatException.class, () -> parse(text)).getMessage());
    }

    @Test
    void valuesOfAllKindsAreRead() throws IOException {
        JsonObject object = parse(" {\"a\" : [1, -2.5e3, true, false, null, \"t\"],\n\"\": {}, \"b\":[]}\t").object();
        assertEquals(List.of("a", "", "b"), object.names());
        JsonArray array = object.get("a").array();
        assertEquals(6, array.size());
        assertEquals(1, array.get(0).int32());
        assertEquals(-2500, array.get(1).float64());
        assertEquals(-2500, array.get(1).int64());
        assertTrue(array.get(2).bool());
        assertFalse(array.get(3).bool());
        assertTrue(array.get(4).isNull());
        assertEquals("t", array.get(5).text());
        assertEquals(8, object.get("a").offset());
        assertTrue(object.get("").object().names().isEmpty());
        assertTrue(object.get("b").array().values().isEmpty());
        assertNull(object.find("c"));
    }

    @Test
    void numbersAreExact() throws IOException {
        JsonArray array =
                parse("[9223372036854775807,-9223372036854775808,0.8999999761581421,5e-324,-0.0,1e2,0]").array();
        assertEquals(Long.MAX_VALUE, array.get(0).int64());
        assertEquals(Long.MIN_VALUE, array.get(1).int64());
        assertEquals(0.9f, (float) array.get(2).float64());
        assertEquals((double) 0.9f, array.get(2).float64());
        assertEquals(Double.MIN_VALUE, array.get(3).float64());
        assertEquals(Double.doubleToRawLongBits(-0.0), Double.doubleToRawLongBits(array.get(4).float64()));
        assertArrayEquals(new long[]{100, 0}, new long[]{array.get(5).int64(), array.get(6).int64()});
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            9223372036854775808 | a whole number of 64 bits is expected here, but this is the number 9223372036854775808
            1.5                 | a whole number of 64 bits is expected here, but this is the number 1.5
            1e400               | a whole number of 64 bits is expected here, but this is the number 1e400
            1e999999999         | a whole number of 64 bits is expected here, but this is the number 1e999999999
            "1"                 | a whole number is expected here, but this is a text
            true                | a whole number is expected here, but this is true
            """, quoteCharacter = '`')
    void valuesThatAreNotWholeNumbersAreRefused(String text, String rule) throws IOException {
        JsonValue value = parse(" " + text);
        assertEquals("test.json, byte 1: " + rule,
                assertThrows(FileFormatException.class, value::int64).getMessage());
    }

    @Test
    void numbersOutOfRangeAreRefused() throws IOException {
        assertEquals("test.json, byte 0: a whole number of 32 bits is expected here, but this is 2147483648",
                assertThrows(FileFormatException.class, parse("2147483648")::int32).getMessage());
        assertEquals("test.json, byte 0: a number is in the range of float64, but this is the number 1e309",
                assertThrows(FileFormatException.class, parse("1e309")::float64).getMessage());
    }

    @Test
    void textsAreDecoded() throws IOException {
        assertEquals("ä€😀\"\\/\b\f\n\r\tA😀x",
                parse("\"ä€😀\\\"\\\\\\/\\b\\f\\n\\r\\t\\u0041\\ud83D\\uDE00x\"").text());
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`',
            textBlock = """
                    ``            | 0 | a value is expected, but there is the end of the file
                    { | 1 | the name of a member in double quotes is expected, but there is the end of the file
                    {"a" 1}       | 5 | a colon is expected after the name of a member, but there is '1'
                    {"a":1 "b":2} | 7 | a comma or the end of the object of byte 0 is expected, but there is '"'
                    {"a":1,}      | 7 | the name of a member in double quotes is expected, but there is '}'
                    {"a":1,"a":2} | 0 | the members of an object have different names, but "a" is there twice
                    [1 2] | 3 | a comma or the end of the array of byte 0 is expected, but there is '2'
                    [1,]          | 3 | a value is expected, but there is ']'
                    [1 | 2 | a comma or the end of the array of byte 0 is expected, but there is the end of the file
                    1 2           | 2 | a JSON document ends after its value, but there is '2'
                    01            | 1 | a JSON document ends after its value, but there is '1'
                    - | 1 | a digit of the number of byte 0 is expected, but there is the end of the file
                    1.e3          | 2 | a digit of the number of byte 0 is expected, but there is 'e'
                    1e+ | 3 | a digit of the number of byte 0 is expected, but there is the end of the file
                    NaN           | 0 | a value is expected, but there is 'N'
                    tru           | 0 | a value is expected, such as true, but there is the end of the file
                    "a            | 2 | the text of byte 0 ends with a double quote, but the file ends
                    "\\x" | 1 | a backslash is followed by one of "\\/bfnrtu, but there is 'x'
                    "\\u12g4"     | 1 | \\u is followed by four hexadecimal digits, but there is 'g'
                    "\\ud83d"     | 1 | an escaped surrogate is half of a pair, but the other half is missing
                    """)
    void brokenDocumentsAreRefused(String text, int offset, String rule) {
        assertEquals("test.json, byte " + offset + ": " + rule, error(text));
    }

    @Test
    void bytesThatAreNotCharactersAreRefused() {
        assertEquals("test.json, byte 1: texts are in UTF-8, but that of 2 bytes here is not",
                assertThrows(FileFormatException.class,
                        () -> JsonReader.parse("test.json", new byte[]{'"', 'a', (byte) 0xff, '"'})).getMessage());
        assertEquals("test.json, byte 2: control characters in a text are escaped, but there is byte 1",
                error("\"a\u0001\""));
    }

    @ParameterizedTest
    @ValueSource(strings = {"[", "{\"a\":"})
    void depthIsLimited(String opening) throws IOException {
        String ending = opening.equals("[") ? "]" : "}";
        parse(opening.repeat(JsonReader.DEEPEST) + "0" + ending.repeat(JsonReader.DEEPEST));
        assertEquals("test.json, byte " + JsonReader.DEEPEST * opening.length()
                + ": arrays and objects are nested at most 4096 deep, but here is one more",
                error(opening.repeat(1_000_000)));
    }

    @Test
    void largeObjectsAreSearchedByName() throws IOException {
        StringBuilder text = new StringBuilder("{");
        for (int i = 0; i < 100_000; i++) {
            text.append("\"n").append(i).append("\":").append(i).append(',');
        }
        JsonObject object = parse(text + "\"last\":-1}").object();
        for (int i = 0; i < 100_000; i += 999) {
            assertEquals(i, object.get("n" + i).int64());
        }
        assertEquals("test.json, byte 0: the members of an object have different names, but \"n7\" is there twice",
                error(text + "\"n7\":-1}"));
        assertEquals("test.json, byte 0: this object has a member \"n\", but there are only "
                + "[n0, n1, n2, n3, n4, n5, n6, n7]",
                assertThrows(FileFormatException.class, () -> object.get("n")).getMessage());
    }

    @Test
    void writtenDocumentsAreReadAgain() throws IOException {
        Random random = new Random(1);
        StringBuilder text = new StringBuilder();
        JsonWriter writer = new JsonWriter(text).beginObject().name("values").beginArray();
        double[] doubles = new double[1000];
        for (int i = 0; i < doubles.length; i++) {
            do {
                doubles[i] = Double.longBitsToDouble(random.nextLong());
            } while (!Double.isFinite(doubles[i]));
            writer.value(doubles[i]);
        }
        String odd = "\"\\\n\r\t\u0000\u007fä😀";
        writer.end().name(odd).value(odd).name("flags").beginArray()
                .value(true).value(false).nothing().beginObject().end().beginArray().end().value(Long.MIN_VALUE)
                .end().end();
        JsonObject read = parse(text.toString()).object();
        for (int i = 0; i < doubles.length; i++) {
            assertEquals(Double.doubleToRawLongBits(doubles[i]),
                    Double.doubleToRawLongBits(read.get("values").array().get(i).float64()));
        }
        assertEquals(odd, read.get(odd).text());
        assertTrue(text.toString().endsWith("\"flags\":[true,false,null,{},[],-9223372036854775808]}"), text::toString);
    }

    @Test
    void valuesThatJsonCannotSayAreNotWritten() {
        JsonWriter writer = new JsonWriter(new StringBuilder());
        assertThrows(IllegalArgumentException.class, () -> writer.value(Double.NaN));
        assertThrows(IllegalArgumentException.class, () -> writer.value("\ud83d"));
        assertThrows(IllegalStateException.class, writer::end);
    }

    @Test
    void mutatedDocumentsAreReadOrRefused() {
        byte[] document = """
                {"base_code":{"magic":"pir","version":4},"list":[1,-2.5e-3,"\\u00e4\\n",true,null,{"#":[[]]}]}"""
                .getBytes(StandardCharsets.UTF_8);
        Random random = new Random(2);
        int refused = 0;
        for (int i = 0; i < 50_000; i++) {
            byte[] mutated = document.clone();
            for (int changes = 1 + random.nextInt(3); changes > 0; changes--) {
                mutated[random.nextInt(mutated.length)] = random.nextBoolean()
                        ? document[random.nextInt(document.length)]
                        : (byte) random.nextInt(256);
            }
            try {
                JsonReader.parse("test.json", mutated);
            } catch (FileFormatException e) {
                assertTrue(String.valueOf(e.getMessage()).startsWith("test.json, byte "), e::getMessage);
                refused++;
            }
        }
        assertTrue(refused > 10_000, "refused " + refused);
    }

    @Test
    void filesAreRead(@TempDir Path folder) throws IOException {
        Path file = folder.resolve("a.json");
        Files.write(file, "\ufeff[1]".getBytes(StandardCharsets.UTF_8));
        assertEquals(1, JsonReader.read(file).array().get(0).int64());
        assertEquals(folder + ", byte 0: a folder, and no JSON: name the file in it",
                assertThrows(FileFormatException.class, () -> JsonReader.read(folder)).getMessage());
    }
}
