package io.seriatim.graph.util;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Against the reference implementation: xxhash 4.1.0 of Python, over lengths around those of its inner steps. */
class XxHash64Test {
    @ParameterizedTest
    @CsvSource({"0,ef46db3751d8e999,d5afba1336a3be4b", "1,a96c7f0ce858bbb7,0766883a0a47a96a",
            "3,bed43740ee6332bb,95ba63f005e6e6ca",
            "4,fa212ae44b3bb23d,319607b5ca9d59d4", "5,d339dcc9ac8e6776,e07f25fb3a8e5de9",
            "7,2744460dd675d2c0,0047cdce49d4bc99",
            "8,994b676b71ce94dd,c14d78e582fe5026", "9,572b84c18b983af8,db001655fe3a4b7a",
            "12,b92f588ce720786e,23eb959821a629a9",
            "15,09e6451ed2ff8b1d,40a4206cc723cce4", "16,94ad0095e72b24d5,0c9b8f12f2ae6c76",
            "31,6711d55e306b5d8f,e811d10b03941e82",
            "32,07f7b8e3bc5d6e25,df4f0f6ea84ebbca", "33,09f85eeb4e1cbe9f,489f1772049e476c",
            "63,b7c9968c066cb6a5,be65bc64322f219b",
            "64,50d4159a0411632e,8ea281ce694f574d", "65,d277176bff863efc,1b26ddaa63626478",
            "100,9ddada11d3dc2d8f,e6a0d25e6e0a7f2a",
            "101,8742d6c2018318fd,c79a06bbec8a23cb"})
    void isThatOfTheReference(int length, String seed0, String seed1) {
        byte[] bytes = new byte[length];
        for (int i = 0; i < length; i++) {
            bytes[i] = (byte) (i * 131 + 7);
        }
        assertEquals(HexFormat.fromHexDigitsToLong(seed0), XxHash64.of(bytes, 0));
        assertEquals(HexFormat.fromHexDigitsToLong(seed1), XxHash64.of(bytes, 1));
    }

    @Test
    void hashesText() {
        assertEquals(0x44BC2CF5AD770999L, XxHash64.of("abc".getBytes(StandardCharsets.US_ASCII), 0));
    }
}
