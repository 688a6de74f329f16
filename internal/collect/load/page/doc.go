// Package page tells what a browser requests for a page beside the page itself: images, stylesheets,
// scripts, frames, icons, fonts.
//
// It follows the HTML standard (https://html.spec.whatwg.org/multipage/) where that says what is
// fetched, and Chromium on a desktop at a device pixel ratio of 1 where it leaves a choice: which
// candidate of a srcset, which source of a picture. Its opinion: a request that a browser would make
// and we do not is a load the server never gets, so where only a layout would tell, such as for an
// image with loading=lazy or the losing one of two background images, it is requested.
//
// Scripts are requested and not run: what they fetch is not seen. The package fetches nothing.
package page
