/** What tests of documents share. */
@NullMarked
package io.seriatim.examples;

import org.jspecify.annotations.NullMarked;
