package io.seriatim.cli.spi;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * The least value of an option with a number, where it is not the usual one. Without this annotation a whole number
 * must be 1 or more and another number above 0, because most options are counts and sizes, and for many of them a field
 * with the value 0 means that the option is not given.
 */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.FIELD)
public @interface AtLeast {
    /** The value of {@link #value} for options that take all numbers, such as seeds. */
    double ANY = Double.NEGATIVE_INFINITY;

    /**
     * The least value.
     *
     * @return a number, or {@link #ANY}
     */
    double value();
}
