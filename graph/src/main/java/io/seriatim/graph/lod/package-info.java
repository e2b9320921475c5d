/**
 * Level-of-detail offsets of the variables of a program that is run, as values beside them.
 */
@NullMarked
package io.seriatim.graph.lod;

import org.jspecify.annotations.NullMarked;
