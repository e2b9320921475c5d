/**
 * The demonstration: a program over the running JDK's classes, as a plain loop ({@code SerialProgram}) and on the
 * engine ({@code EngineProgram}). Both consist of the same {@code Steps} and produce a {@code Result}.
 */
@NullMarked
package io.seriatim.cli.demo;

import org.jspecify.annotations.NullMarked;
