package io.seriatim.graph.util;

import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class JavaDefectsTest {
    @ParameterizedTest
    @ValueSource(strings = {"25", "25.0.1", "25.0.2+10-LTS", "25-ea"})
    void versionsWithTheDefectOfG1AreWarnedOf(String version) {
        String warning = JavaDefects.of(Runtime.Version.parse(version));
        assertTrue(warning != null && warning.startsWith("Java " + version + " has a defect: ")
                && warning.contains("JDK-8377811") && warning.contains("25.0.3"), () -> version + ": " + warning);
    }

    @ParameterizedTest
    @ValueSource(strings = {"25.0.3", "25.0.3+9-LTS", "25.0.4", "25.1", "26-ea", "17.0.15"})
    void otherVersionsAreNot(String version) {
        assertNull(JavaDefects.of(Runtime.Version.parse(version)), version);
    }
}
