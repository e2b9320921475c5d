package io.seriatim.engine;

import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** Runs a test class over the engines whose operations run on other threads than the pushing one. */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Inherited
@ParameterizedClass(name = "{0}")
@EnumSource(mode = EnumSource.Mode.EXCLUDE, names = {"NAIVE", "SHUFFLED"})
@interface EveryEngineWithWorkers {
}
