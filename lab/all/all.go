// Package all lists the labs. Adding one is a folder and a line here.
package all

import (
	"github.com/unstall/unstall/lab"
	dotnetloh "github.com/unstall/unstall/lab/dotnet-loh"
	dotnetstarvation "github.com/unstall/unstall/lab/dotnet-starvation"
	goballast "github.com/unstall/unstall/lab/go-ballast"
	jvmparnew "github.com/unstall/unstall/lab/jvm-parnew"
	linuxthp "github.com/unstall/unstall/lab/linux-thp"
)

// Labs are in the order in which they are listed.
var Labs = []*lab.Lab{&goballast.Lab, &dotnetstarvation.Lab, &dotnetloh.Lab, &jvmparnew.Lab, &linuxthp.Lab}
