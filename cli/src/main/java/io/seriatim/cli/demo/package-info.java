/**
 * The demonstration: one program over the running JDK's classes, as a plain loop ({@code SerialProgram}) and through
 * the engine ({@code EngineProgram}). Both are made of the same {@code Steps} and change the same {@code Result}.
 */
@NullMarked
package io.seriatim.cli.demo;

import org.jspecify.annotations.NullMarked;
